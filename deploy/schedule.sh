# shellcheck shell=bash
# Sourced, after lib.sh, by .ci/run and deploy/checks/nightly: runs checks beside each other as far as the processors
# carry them, shows what each said when it has ended, and ends in a table.
#
# What fails is run once more, alone, when all others have ended: a busy machine is no defect of the product. The table
# then says "passed at the second try" and why the first failed; what fails twice has failed. What passed at the second
# try only is counted in the last lines, and is to be mended before anything new. A check of many cases may write the names
# of those that failed, a line each, into the file $SEISMOTE_FAILED; at the second try they stand there, and only they
# are run again.
#
# A list of checks has a line for each: its name, the seconds after which it is given up, its load in hundredths of a
# processor (100 if it is not given; or `alone`, where something is measured that nothing else may disturb), and what it
# is given: words of the form NAME=VALUE go into its environment, `needs=JOB` names another job that it needs, of those
# with one `turn=WORD` one runs at a time (three browsers at work on two processors drew no picture in 90 s), others are its
# arguments.

# shellcheck disable=SC2154  # repository, release_flags: of lib.sh
job_names=() job_limits=() job_loads=() job_needs=() job_words=() # what is to be done
job_states=() # waiting, running, again (failed once; to be run alone), passed, failed, skipped
job_reasons=() # why the first try failed
job_results=() # lines of the table
job_counts=  # its last line
# No second try begins later than this, in seconds since the start: a run has to end in time.
second_tries_until=${SEISMOTE_SECOND_TRIES_UNTIL:-4200}
declare -A job_of_process=() job_began=() job_share=()
# Programs at work that are none of ours, in hundredths of a processor each: a mean of what was seen when jobs began.
# SEISMOTE_OTHERS: how many, in place of looking.
others=0
job_folder=$(mktemp -d "${TMPDIR:-/tmp}/seismote-jobs.XXXXXX")

# job NAME SECONDS LOAD NEEDS COMMAND...: something to be done, when the jobs named in NEEDS ('-', or with commas
# between them) have passed. Of those with one `turn=WORD` in NEEDS one runs at a time. The command is a program or a function.
job() {
    local other
    for other in "${job_names[@]}"; do
        [ "$other" != "$1" ] || fail "two jobs are called '$1'"
    done
    job_names+=("$1") job_limits+=("$2") job_loads+=("$3") job_needs+=("$4") job_states+=(waiting)
    shift 4
    job_words+=("$(printf '%q ' "$@")")
}

# jobs_of FILE NEEDS [NAME...]: the checks of that list; with names, only these.
jobs_of() {
    local list=$1 needs=$2 name seconds load given word title environment arguments more
    shift 2
    while read -r name seconds load given; do
        [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
        load=${load:-100}
        environment=() arguments=() more=
        for word in $given; do
            case $word in
                needs=*) more+=,${word#needs=} ;;
                turn=*) more+=,$word ;;
                [A-Z]*=*) environment+=("$word") ;;
                *) arguments+=("$word") ;;
            esac
        done
        title=$name${arguments[*]:+ ${arguments[*]}}
        job "$title" "$seconds" "$load" "$needs$more" env "${environment[@]}" "deploy/checks/$name" "${arguments[@]}"
    done < <(sed -e 's/#.*//' -e '/^ *$/d' "$list")
}

# jobs_of_builds: what all checks need is built once, before them, so that those that mostly wait do not wait for each
# other's builds. (A check that runs alone builds what it needs itself.)
#
# The releases are built in a folder of the cache. What others wrote (SwiftNIO, BoringSSL: most of the time of the servers)
# stays there from run to run, as its source does; all of ours is compiled anew, since the files of a clone are new. A second
# run at the same time builds everything in .build. The programs are copied to where any user may start them, as services do.
jobs_of_builds() {
    release_folder=$cache/release
    mkdir -p "$release_folder"
    exec {release_lock}>"$release_folder.lock"
    flock --nonblock "$release_lock" || release_folder=$repository/.build
    export SEISMOTE_BUILT=$repository/.build/programs SEISMOTE_BUILT_TESTS=$repository/.build/debug/SeismotePackageTests.xctest
    job installed 900 5 - install_all
    job tests-build 1800 150 - build_tests
    job release 1800 100 tests-build build_release
    job servers 900 100 release build_servers
}

# What all checks together install, in one go.
install_all() {
    install build test check try dashboard browser python network brokers
    need_python_packages numpy scipy obspy pymseed jsonschema playwright
}

# A room at a time and without debug information: this is built once and thrown away. (No test is of the servers, and
# SwiftNIO compiles long.) The module of a room comes of its compilation: in one of its own, an eighth of the time would go
# into those of tests, which nothing imports. Beside programs of others with as many more compilers.
build_tests() {
    SEISMOTE_WITHOUT_SERVERS=1 swift_alone build --jobs $(($(nproc) + others / 100)) --build-tests --quiet -debug-info-format none \
        -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -no-emit-module-separately-wmo 2> >(grep -v -e "ignoring '-enable-batch-mode'" -e '^remark: Incremental' >&2)
}

build_release() {
    SEISMOTE_WITHOUT_SERVERS=1 build_programs seismoted seismote seismote-broker seismote-update seismote-network seismote-notify simulate-fleet
}

# build_programs PRODUCT...: builds all programs that there are in $release_folder, in one go, and copies these into
# $SEISMOTE_BUILT. (With debug information, as delivered: without it, half of the tables for unwinding are missing, 0.8 MB.)
# With the same number of compilers each time: SwiftPM hands it to them, and with another everything is compiled anew, also
# what lies in the cache.
build_programs() {
    mkdir -p "$SEISMOTE_BUILT"
    (cd "$release_folder" && mkdir -p release && rm -f "${@/#/release/}")
    SEISMOTE_WITHOUT_TESTS=1 swift_alone build --jobs "$(nproc)" --scratch-path "$release_folder" -c release "${release_flags[@]}" --quiet &&
        (cd "$release_folder/release" && cp "$@" "$SEISMOTE_BUILT/")
}

# What few checks need, and compiles long on one processor while the others begin.
build_servers() { SEISMOTE_BENCHMARKS=1 build_programs seismote-feed cost gaps long-run discrimination storage; }

# jobs_of_tests NEEDS: the tests, in parts beside each other.
jobs_of_tests() {
    local part rooms share of load
    while read -r rooms of load; do
        for ((share = 1; share <= of; share++)); do
            part=tests-${rooms//|/-}${of:+-$share}
            job "${part,,}" 900 "$load" "$1" deploy/test --part "$rooms" "$share/$of"
        done
    done <<<"$parts_of_tests"
}

# end_jobs: ends those that run, and forgets what they said. For a trap.
end_jobs() {
    local process
    for process in "${!job_of_process[@]}"; do kill "$process" 2>/dev/null || true; done
    wait
    rm -rf "$job_folder"
}

# at_work: how many programs work now that were not started by this script. (A line is: number, name in parentheses, state,
# parent. What the kernel does itself descends from 2; what has ended since its folder was seen is no error.)
at_work() {
    (cat /proc/[0-9]*/task/[0-9]*/stat 2>/dev/null || true) | awk -v own=$$ '
        { id = $1 + 0; sub(/.*\) /, ""); parent[id] = $2 + 0; if ($1 == "R") running[id] = 1 }
        END {
            for (id in running) {
                for (one = id + 0; one > 2 && one != own + 0; one = parent[one]) { }
                if (one < 2) n++
            }
            print n + 0
        }'
}

# look_at_others: counts these. Beside them each of ours gets a smaller share of the processors, so that more of them have to
# run at a time.
look_at_others() {
    if [ -n "${SEISMOTE_OTHERS:-}" ]; then
        others=$((100 * SEISMOTE_OTHERS))
        return
    fi
    others=$(((3 * others + 100 * $(at_work)) / 4))
    [ $others -le $(($(nproc) * 100)) ] || others=$(($(nproc) * 100))
}

# run_jobs: runs all that wait, those that stand first first.
run_jobs() {
    local processors=$(($(nproc) * 100)) capacity used=0 number process status load again=
    local alone=$((100 * processors)) # More than there is ever room for, beside nothing.
    for ((number = 0; number < 8; number++)); do look_at_others && sleep 0.1; done
    while :; do
        for number in "${!job_names[@]}"; do
            [ "${job_states[number]}" = waiting ] || continue
            may_start "$number" || continue
            # (With as many more as there are others, those that judge real time failed at a load of 38.)
            capacity=$((processors + others / 2))
            load=${job_loads[number]}
            # What has to be alone waits for its turn, but holds up nothing.
            if [ "$load" = alone ]; then load=$alone; elif [ "$load" -gt "$capacity" ]; then load=$capacity; fi
            [ $((used + load)) -le "$capacity" ] || [ "$used" = 0 ] || continue
            used=$((used + load)) job_share[$number]=$load
            look_at_others
            start_job "$number"
        done
        if [ ${#job_of_process[@]} = 0 ]; then
            # All others have ended: the next of those that failed, alone.
            again=$(next_again) || break
            used=$alone job_share[$again]=$alone
            start_job "$again"
        fi
        status=0
        wait -n -p process "${!job_of_process[@]}" || status=$?
        number=${job_of_process[$process]}
        unset "job_of_process[$process]"
        used=$((used - job_share[$number]))
        end_job "$number" $status
    done
    for number in "${!job_names[@]}"; do
        [ "${job_states[number]}" = waiting ] || continue
        job_states[number]=failed
        : >"$job_folder/$number.out"
        job_results+=("$(printf '%-28s %6s   %6s    FAILED: it waits for %s' "${job_names[number]}" - - "${job_needs[number]}")")
    done
}

# next_again: the number of the first job that is to have its second try.
next_again() {
    local number
    for number in "${!job_names[@]}"; do
        [ "${job_states[number]}" = again ] || continue
        say "$number"
        return
    done
    return 1
}

# may_start NUMBER: whether all that the job needs has passed, and none runs that takes turns with it; where one of what it
# needs has not passed, the job is over.
may_start() {
    local name other state
    for name in ${job_needs[$1]//,/ }; do
        case $name in
            -) continue ;;
            turn=*)
                for other in "${job_of_process[@]}"; do [[ ,${job_needs[other]}, != *,$name,* ]] || return 1; done
                continue
                ;;
        esac
        state=missing
        for other in "${!job_names[@]}"; do
            [ "${job_names[other]}" != "$name" ] || state=${job_states[other]}
        done
        case $state in
            passed) ;;
            waiting | running | again) return 1 ;;
            *)
                job_states[$1]=skipped
                job_results+=("$(printf '%-28s %6s   %6s    skipped: it needs %s' "${job_names[$1]}" - - "$name")")
                return 1
                ;;
        esac
    done
}

start_job() {
    local limit=${job_limits[$1]} words=${job_words[$1]} output=$job_folder/$1
    if [ -n "${job_reasons[$1]:-}" ] && [ "$SECONDS" -gt "$second_tries_until" ]; then
        words='too_late' # It waited for others, and has no time any more.
    fi
    say "[$(clock)] ${job_names[$1]} begins${job_reasons[$1]:+, the second time, alone}"
    job_states[$1]=running job_began[$1]=$SECONDS
    (
        trap - EXIT
        export SEISMOTE_FAILED=$output.failed
        eval "words=($words)"
        status=0
        if [ "$(type -t "${words[0]}")" = function ]; then
            # A function is run by this shell, which `timeout` cannot do: it has no limit.
            "${words[@]}" || status=$?
        else
            # Ended by the kernel should this shell be.
            setpriv --pdeathsig TERM timeout --kill-after=20 "$limit" "${words[@]}" || status=$?
        fi
        times >"$output.times"
        exit $status
    ) >"$output.out" 2>&1 &
    job_of_process[$!]=$1
}

too_late() {
    say "FAILED: there was no time for a second try"
    return 1
}

# end_job NUMBER STATUS: shows what the job said, and notes its result.
end_job() {
    local name=${job_names[$1]} output=$job_folder/$1 result processor reason
    step "$name"
    cat "$output.out"
    case $2 in
        0)
            job_states[$1]=passed result=passed
            # A part that could not be tried is said where it is not to be overlooked.
            while read -r line; do result+=", but for a part: ${line#skipped: }"; done < <(grep '^skipped: ' "$output.out")
            ;;
        77)
            job_states[$1]=skipped
            result=$(grep '^skipped: ' "$output.out" | tail -1)
            result=${result:-skipped: it does not say why}
            ;;
        *)
            reason=$(why_failed "$output.out")
            [ "$2" != 124 ] && [ "$2" != 137 ] || reason="not over after ${job_limits[$1]} s; $reason"
            if [ -n "${job_reasons[$1]:-}" ]; then
                job_states[$1]=failed result="FAILED twice: $reason"
            elif [ "$SECONDS" -gt "$second_tries_until" ]; then
                job_states[$1]=failed result="FAILED (no time for a second try): $reason"
            else
                say "It is run once more when all others have ended."
                job_states[$1]=again job_reasons[$1]=$reason
                return
            fi
            ;;
    esac
    if [ "${job_states[$1]}" = passed ] && [ -n "${job_reasons[$1]:-}" ]; then
        result="passed at the second try (the first: ${job_reasons[$1]})${result#passed}"
    fi
    # The second line, "0m1.234s 0m0.567s", is of all that it has started and waited for.
    processor=$(awk 'NR == 2 { gsub(/s/, ""); for (i = 1; i <= 2; i++) { split($i, t, "m"); n += 60 * t[1] + t[2] } printf "%.0f", n }' \
        "$output.times" 2>/dev/null)
    job_results+=("$(printf '%-28s %6d s %6s s  %s' "$name" $((SECONDS - job_began[$1])) "${processor:--}" "$result")")
}

# why_failed FILE: the line that tells most of why a job failed, in one line.
why_failed() {
    local line
    line=$(grep -aE 'FAILED|✘|[Ff]atal error|^error:|Error:|Failure|failed' "$1" | grep -avE '(^|[^0-9])0 failed' | head -1)
    [ -n "$line" ] || line=$(grep -av '^ *$' "$1" | tail -1)
    printf '%s' "${line:-it said nothing}" | tr -s '[:space:]' ' ' | cut -c1-200
}

clock() { printf '%d:%02d' $((SECONDS / 60)) $((SECONDS % 60)); }

# jobs_table: the last words of those that failed once more, where nobody has to look for them; the table of all of
# them, which passed at the second try only, and how many passed; fails when one has failed.
jobs_table() {
    local state number passed=0 failed=0 skipped=0 flaky=()
    for number in "${!job_names[@]}"; do
        [ "${job_states[number]}" = failed ] || continue
        step "${job_names[number]} failed, once more"
        tail -40 "$job_folder/$number.out" | cut -c1-400
    done
    step "Results"
    printf '%-28s %8s %8s\n' '' time CPU
    printf '%s\n' "${job_results[@]}"
    for state in "${job_states[@]}"; do
        case $state in
            passed) passed=$((passed + 1)) ;;
            skipped) skipped=$((skipped + 1)) ;;
            *) failed=$((failed + 1)) ;;
        esac
    done
    for number in "${!job_names[@]}"; do
        [ "${job_states[number]}" != passed ] || [ -z "${job_reasons[number]:-}" ] || flaky+=("${job_names[number]}")
    done
    say
    [ ${#flaky[@]} = 0 ] || say "${#flaky[@]} of these at the second try only, to be mended before anything new: $(join_words "${flaky[@]}")"
    job_counts="$passed passed, $failed failed, $skipped skipped"
    say "$job_counts"
    [ $failed = 0 ]
}

# join_words WORD...: with commas between them.
join_words() {
    local text
    text=$(printf '%s, ' "$@")
    say "${text%, }"
}
