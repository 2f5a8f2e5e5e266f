import Values

/// Passwords, and the hashes by which mosquitto knows them.
enum PasswordHash {
    /// Rounds of PBKDF2, as `mosquitto_passwd` makes them.
    static let rounds = 101
    /// Characters of a password that somebody chose.
    static let lengths = 8...256

    /// A line's second field in mosquitto's file of passwords (`$7$`: PBKDF2 with SHA-512).
    /// - Parameter salt: twelve random bytes.
    static func make(_ password: [UInt8], salt: [UInt8], rounds: Int = rounds) -> String {
        let hash = SHA512.stretched(password, salt: salt, rounds: rounds)
        return "$7$\(rounds)$\(Base64.text(salt))$\(Base64.text(hash))"
    }

    /// The password in the first line of a file, as it was given: colons and blanks belong to it.
    /// - Returns: the password, or what is wrong with it.
    static func given(_ file: [UInt8]) -> Result<[UInt8], PasswordError> {
        let line = Array(file.prefix { $0 != 10 })
        guard let text = String(validating: line, as: UTF8.self), !line.contains(0) else {
            return .failure(PasswordError("the password is no text in UTF-8"))
        }
        let count = text.unicodeScalars.count
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }
        guard lengths.contains(count), isPlain else {
            return .failure(
                PasswordError(
                    "the password has \(count) characters\(isPlain ? "" : ", and control characters among them"): 8 to 256 are allowed, in one line"
                ))
        }
        return .success(line)
    }
}

/// Reason for which a request is refused, in words.
struct PasswordError: Error, Equatable {
    var words: String
    init(_ words: String) { self.words = words }
}

/// SHA-512 (FIPS 180-4) of whole messages, and what mosquitto makes of it: HMAC and PBKDF2.
enum SHA512 {
    /// The state after some blocks, from which a message can go on.
    struct State {
        fileprivate var words: [UInt64] = [
            0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
            0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
        ]

        init() {}

        /// - Parameter block: 128 bytes.
        fileprivate mutating func take(_ block: ArraySlice<UInt8>) {
            var schedule = [UInt64](repeating: 0, count: 80)
            for i in 0..<16 {
                var word: UInt64 = 0
                for j in 0..<8 { word = word << 8 | UInt64(block[block.startIndex + 8 * i + j]) }
                schedule[i] = word
            }
            for i in 16..<80 {
                let (early, late) = (schedule[i - 15], schedule[i - 2])
                let s0 = SHA512.rotate(early, 1) ^ SHA512.rotate(early, 8) ^ early >> 7
                let s1 = SHA512.rotate(late, 19) ^ SHA512.rotate(late, 61) ^ late >> 6
                schedule[i] = schedule[i - 16] &+ s0 &+ schedule[i - 7] &+ s1
            }
            var w = words
            for i in 0..<80 {
                let s1 = SHA512.rotate(w[4], 14) ^ SHA512.rotate(w[4], 18) ^ SHA512.rotate(w[4], 41)
                let choice = w[4] & w[5] ^ ~w[4] & w[6]
                let first = w[7] &+ s1 &+ choice &+ SHA512.constants[i] &+ schedule[i]
                let s0 = SHA512.rotate(w[0], 28) ^ SHA512.rotate(w[0], 34) ^ SHA512.rotate(w[0], 39)
                let second = s0 &+ (w[0] & w[1] ^ w[0] & w[2] ^ w[1] & w[2])
                (w[7], w[6], w[5], w[4]) = (w[6], w[5], w[4], w[3] &+ first)
                (w[3], w[2], w[1], w[0]) = (w[2], w[1], w[0], first &+ second)
            }
            for i in 0..<8 { words[i] &+= w[i] }
        }

        /// The digest, 64 bytes, of what was taken and a last part.
        /// - Parameter before: bytes that were taken, a multiple of 128.
        fileprivate func finished(_ rest: [UInt8], before: Int) -> [UInt8] {
            var state = self
            var tail = rest + [0x80]
            while tail.count % 128 != 112 { tail.append(0) }
            let bits = UInt64(before + rest.count) * 8
            tail += [UInt8](repeating: 0, count: 8)
            for shift in stride(from: 56, through: 0, by: -8) {
                tail.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
            }
            for start in stride(from: 0, to: tail.count, by: 128) { state.take(tail[start..<start + 128]) }
            return state.words.flatMap { word in
                stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
            }
        }
    }

    /// The digest of a message, 64 bytes.
    static func digest(_ message: [UInt8]) -> [UInt8] { State().finished(message, before: 0, inBlocks: true) }

    /// A key that many messages are authenticated with (HMAC, RFC 2104).
    struct Key {
        private var inner = State()
        private var outer = State()

        init(_ key: [UInt8]) {
            var block = key.count > 128 ? SHA512.digest(key) : key
            block += [UInt8](repeating: 0, count: 128 - block.count)
            inner.take(block.map { $0 ^ 0x36 }[...])
            outer.take(block.map { $0 ^ 0x5c }[...])
        }

        func code(_ message: [UInt8]) -> [UInt8] {
            outer.finished(inner.finished(message, before: 128), before: 128)
        }
    }

    /// The first block, 64 bytes, of PBKDF2 (RFC 8018).
    static func stretched(_ password: [UInt8], salt: [UInt8], rounds: Int) -> [UInt8] {
        let key = Key(password)
        var last = key.code(salt + [0, 0, 0, 1])
        var sum = last
        for _ in 1..<max(1, rounds) {
            last = key.code(last)
            for i in 0..<sum.count { sum[i] ^= last[i] }
        }
        return sum
    }

    fileprivate static func rotate(_ x: UInt64, _ n: UInt64) -> UInt64 { x >> n | x << (64 - n) }

    /// The first 64 bits of the fractional parts of the cube roots of the first 80 primes.
    fileprivate static let constants: [UInt64] = [
        0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
        0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
        0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
        0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
        0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
        0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
        0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
        0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
        0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
        0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
        0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
        0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
        0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
        0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
        0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
        0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
        0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
        0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
        0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
        0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
    ]
}

extension SHA512.State {
    fileprivate func finished(_ message: [UInt8], before: Int, inBlocks: Bool) -> [UInt8] {
        var state = self
        let whole = message.count / 128 * 128
        for start in stride(from: 0, to: whole, by: 128) { state.take(message[start..<start + 128]) }
        return state.finished(Array(message[whole...]), before: before + whole)
    }
}
