import Feed
import Servers

/// The archive as the server's thread sees it: what is newest from memory, the rest from the disk.
struct BoardArchive: FeedArchive {
    let board: Board
    let ring: Ring
    let started: Int64
    let now: Int64
    let stations: [FeedStation]
    let clients: [FeedClient]
    private let recent: [[FeedPacket]]
    private let numbers: [Int64]

    init(board: Board, ring: Ring, started: Int64, clients: [FeedClient]) {
        (self.board, self.ring, self.started, self.clients) = (board, ring, started, clients)
        now = realNanoseconds()
        (stations, recent, numbers) = board.read { ($0.stations, $0.recent, $0.numbers) }
    }

    func packets(of station: Int, from sequence: UInt64, most: Int) -> [FeedPacket] {
        if let first = recent[station].first, first.sequence <= sequence {
            return Array(recent[station].dropFirst(Int(sequence - first.sequence)).prefix(most))
        }
        do throws(DatabaseError) {
            return try ring.packets(numbers[station], from: sequence, most: most)
        } catch {
            printError(error.message)
            return []
        }
    }

    func sequence(of station: Int, reaching time: Int64) -> UInt64? {
        do throws(DatabaseError) {
            return try ring.sequence(numbers[station], reaching: time)
        } catch {
            printError(error.message)
            return nil
        }
    }
}
