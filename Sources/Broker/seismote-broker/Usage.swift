/// Text of `--help`.
let usage = """
    usage: seismote-broker invite [NAME] [--count N] [--hours H] [--host HOST] [--user-data [--install]] [--file FOLDER] [--no-qr]
                                  [--json]
           seismote-broker add NAME [--role ROLE] [--host HOST] [--viewer NAME] [--password-file FILE] [--no-qr] [--json]
           seismote-broker remove NAME...
           seismote-broker list [--json]
           seismote-broker certificates [--json]
           seismote-broker password NAME [--host HOST] [--password-file FILE] [--no-qr] [--json]
           seismote-broker init [--host NAME]...
           seismote-broker renew [--if-needed]
           seismote-broker fingerprint
           seismote-broker new-authority
           seismote-broker tidy
           seismote-broker prepare
           seismote-broker enrol
           seismote-broker --help

      invite           print the line that makes a station of a board: `sudo seismote join LINE`, as text and as a QR code
                       (with the package qrencode). It is good for one board, which gets a certificate of its own
      add              make an account and print what the other side has to be told: for a station the line for
                       `seismote setup`, as text and as a QR code (with the package qrencode). With the first station an
                       account `viewer` is made for the page (not with --json)
      remove           take accounts away, revoke their certificates, and withdraw their invitations; whoever is connected
                       with them is disconnected, and publishes nothing more when the command ends
      list             accounts, their roles, how they sign in, and who is connected since when
      certificates     the certificates of the broker and of the stations, those that end first at the top
      password         give an account a new password; whoever is connected with the old one is disconnected
      init             make the authority, the certificate and the files of the accounts, where they are missing; the
                       package does so when it is installed
      renew            make a new certificate of the same authority; stations need not be told. With --if-needed only
                       if it ends within 60 days or the names or addresses of this machine have changed
      fingerprint      print the fingerprint of the authority (SHA-256)
      new-authority    make another authority for the certificates of stations. The one before is taken for 100 days more, in
                       which every station gets a certificate of the new one by its usual renewal
      tidy             end invitations that were used or whose time is over; a unit does so when a station has joined, and a
                       timer once a day
      prepare          finish what a power cut has left half, and make anew what begins in the future since a clock was ahead;
                       seismote-broker.service does so before it starts the broker
      enrol            the service that gives stations their certificates (seismote-broker-enrol.service)

      --count N        invite N stations, NAME-01 to NAME-N; default: 1, without a number
      --hours H        how long an invitation is good; default: 24
      --user-data      print a file for cloud-init in place of the line
      --install        with --user-data: the board has no package seismote yet, and installs it from the source that this machine
                       has (/etc/apt/sources.list.d/seismote.list, with its key /etc/apt/keyrings/seismote.gpg)
      --file FOLDER    write what is for the board into FOLDER/NAME and print nothing secret: `seismote-join` for the boot
                       partition, or `user-data` with --user-data
      --role ROLE      station (default): writes its own measurements, obeys commands; NAME is its station.id
                       viewer: sees all stations
                       commander: sees all stations and may command them
                       home-assistant: for Home Assistant's MQTT integration
                       network, feed, notify: for the service seismote-network, seismote-feed, seismote-notify
      --host HOST      name or address by which the station reaches this machine; default: its name with .local
                       (where avahi runs) or its full name
      --viewer NAME    with a station: make an account NAME to look at the page, too
      --password-file FILE
                       file with the password in its first line, `-` for the standard input; default: a new random one
      --no-qr          no QR code
      --json           print JSON

    Exit status: 0 done, 1 not done, 64 wrong arguments.
    """
