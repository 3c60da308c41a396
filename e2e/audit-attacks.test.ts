import { createHash, createHmac } from 'node:crypto'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createVerifyAudit } from '../packages/core/src/audit/verify-audit.ts'
import { createCheckpointFile, nodeDigest } from '../packages/platform-node/src/index.ts'
import { type AuditKeys, type AuditLink, type EpochMs, headMac, linkEntry } from '../packages/ports/src/index.ts'
import { type Connection, openConnection } from '../packages/sqlite/src/file/connection.ts'
import { databaseOpener } from '../packages/sqlite/src/file/open-database.ts'
import { openSqliteStorage } from '../packages/sqlite/src/index.ts'
import { runNow } from '../packages/storage/src/index.ts'
import { auditReads } from '../packages/storage/src/queries.ts'
import { createRandom } from '../packages/testkit/src/random.ts'

const SEED = Number(process.env.E2E_SEED ?? 20_261_121)
const ENTRIES = 10_000
const EVERY = 1_000
const LAST_CHECKPOINT = 9_990
const ATTACKS = Number(process.env.E2E_ATTACKS ?? 300)
const KEYS: AuditKeys = [Buffer.from('the key of the head and the checkpoints')]
const ATTACKER_KEY = Buffer.from('a key of an attacker')
const encryption = { passphrase: Buffer.from('passphrase') }

const directory = mkdtempSync(join(tmpdir(), 'perdure-audit-attacks-'))
const path = join(directory, 'audit.db')
const checkpoints = createCheckpointFile({ path: join(directory, 'checkpoints'), keys: KEYS })
const random = createRandom(SEED)
const upTo = (n: number) => 1 + Math.floor(random() * n)
let db: Connection

const entryOf = (n: number) =>
  ({
    at: (1_700_000_000_000 + n) as EpochMs,
    actor: { kind: 'token', id: 'tok_1', subject: 'alice' },
    action: 'runs.replay',
    target: `run_${n}`,
    decision: 'allowed',
    status: 200,
    durationMs: n % 50,
  }) as const

/** Writes ten checkpoints, then ten more entries. */
beforeAll(async () => {
  const storage = await openSqliteStorage({ path, encryption, synchronous: 'normal' })
  for (let n = 1; n <= ENTRIES; n++) {
    const batch = [{ type: 'audit.append', entry: entryOf(n), keys: KEYS } as const]
    while ((n + 10) % EVERY !== 0 && n < ENTRIES) batch.push({ type: 'audit.append', entry: entryOf(++n), keys: KEYS })
    await storage.unitOfWork.commit(batch)
    const { last } = await storage.audit.state()
    if (last !== undefined && n < ENTRIES) await checkpoints.append({ ...last, at: entryOf(n).at })
  }
  await storage.close()
  db = openConnection(path, { open: await databaseOpener(encryption) })
})
afterAll(() => {
  db.database.close()
  rmSync(directory, { recursive: true })
})

const chain = {
  links: async (range: { readonly afterSeq: number; readonly limit: number }) => runNow(auditReads.links(db.db, range)),
  state: async () => runNow(auditReads.state(db.db)),
}
const verify = createVerifyAudit({ chain, checkpoints, keys: KEYS, digest: nodeDigest, pause: async () => {} })

const sql = (text: string, ...values: unknown[]) => db.database.prepare(text).run(...values)
const rowAt = (seq: number): AuditLink => runNow(auditReads.links(db.db, { afterSeq: seq - 1, limit: 1 }))[0]!
const hashAt = (seq: number) => (seq === 0 ? '0'.repeat(64) : rowAt(seq).hash)
const put = ({ seq, hash, prevHash, entry }: AuditLink) =>
  sql('UPDATE audit_entries SET hash = ?, prev_hash = ?, entry = ? WHERE seq = ?', hash, prevHash, entry, seq)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: Uint8Array, text: string) => createHmac('sha256', key).update(text).digest('hex')

function setHead(seq: number, key: Uint8Array): void {
  const hash = hashAt(seq)
  const mac = headMac({ sha256, hmacSha256: hmac }, key, { seq, hash })
  sql("UPDATE audit_heads SET seq = ?, hash = ?, mac = ? WHERE name = 'head'", seq, hash, mac)
}

/** Replaces one random character. */
function alter(text: string): string {
  const index = upTo(text.length) - 1
  const other = text[index] === 'a' ? 'b' : 'a'
  return text.slice(0, index) + other + text.slice(index + 1)
}

/** Edits an entry and recomputes every hash from there on. */
function rechain(from: number): void {
  let prevHash = hashAt(from - 1)
  for (let seq = from; seq <= ENTRIES; seq++) {
    const row = rowAt(seq)
    const entry = seq === from ? row.entry.replace('"alice"', '"mallory"') : row.entry
    const hash = sha256(prevHash + entry)
    put({ seq, prevHash, entry, hash })
    prevHash = hash
  }
}

function insertAt(seq: number): void {
  sql('UPDATE audit_entries SET seq = -(seq + 1) WHERE seq >= ?', seq)
  sql('UPDATE audit_entries SET seq = -seq WHERE seq < 0')
  const forged = linkEntry(entryOf(0), { seq: seq - 1, hash: hashAt(seq - 1) }, { sha256, hmacSha256: hmac })
  sql('INSERT INTO audit_entries VALUES (?, ?, ?, ?)', seq, forged.hash, forged.prevHash, forged.entry)
}

const isCheckpoint = (seq: number) => (seq + 10) % EVERY === 0 && seq <= LAST_CHECKPOINT
/** Returns the newest checkpoint before an entry. */
const anchorBefore = (seq: number) => {
  for (let index = seq - 1; index > 0; index--) if (isCheckpoint(index)) return index
  return 0
}

interface Expected {
  readonly reason?: string
  readonly firstBadSeq?: number | undefined
  /** The attack goes undetected; this many entries are reported as not anchored. */
  readonly unanchoredTail?: number
}

const found = (reason: string, firstBadSeq: number | undefined): Expected => ({ reason, firstBadSeq })
const unseen = (last: number): Expected => ({ unanchoredTail: last - LAST_CHECKPOINT })
const truncated = (last: number) => found('truncated', last + 1)
const cut = (last: number) => sql('DELETE FROM audit_entries WHERE seq > ?', last)
const mismatch = (seq: number) => found('checkpoint-mismatch', anchorBefore(seq) + 1)

/** The attacks by name. Each changes the file and returns what verification must report. */
const KINDS: Readonly<Record<string, () => Expected>> = {
  'edit an entry'() {
    const row = rowAt(upTo(ENTRIES))
    put({ ...row, entry: alter(row.entry) })
    return found('entry-altered', row.seq)
  },
  'edit a hash'() {
    const row = rowAt(upTo(ENTRIES))
    put({ ...row, hash: alter(row.hash) })
    return found('entry-altered', row.seq)
  },
  'edit a previous hash'() {
    const row = rowAt(upTo(ENTRIES))
    put({ ...row, prevHash: alter(row.prevHash) })
    return found('link-broken', row.seq)
  },
  'delete some in the middle'() {
    const from = upTo(ENTRIES - 1)
    sql('DELETE FROM audit_entries WHERE seq BETWEEN ? AND ?', from, Math.min(from + upTo(50) - 1, ENTRIES - 1))
    return found('entry-missing', from)
  },
  insert() {
    const seq = upTo(ENTRIES)
    insertAt(seq)
    return isCheckpoint(seq) ? mismatch(seq) : found('link-broken', seq + 1)
  },
  swap() {
    const [one, other] = [upTo(ENTRIES / 2), ENTRIES / 2 + upTo(ENTRIES / 2)].map(rowAt) as [AuditLink, AuditLink]
    put({ ...other, seq: one.seq })
    put({ ...one, seq: other.seq })
    return found('link-broken', one.seq)
  },
  'truncate the tail'() {
    const last = ENTRIES - upTo(ENTRIES)
    cut(last)
    return truncated(last)
  },
  'truncate the tail and delete the head'() {
    const last = upTo(ENTRIES) - 1
    cut(last)
    sql('DELETE FROM audit_heads')
    if (last < LAST_CHECKPOINT) return truncated(last)
    return found('head-missing', last === LAST_CHECKPOINT ? undefined : LAST_CHECKPOINT + 1)
  },
  'truncate the tail and sign the head with another key'() {
    const last = upTo(ENTRIES - 1)
    cut(last)
    setHead(last, ATTACKER_KEY)
    if (last < LAST_CHECKPOINT) return truncated(last)
    return found('head-forged', last === LAST_CHECKPOINT ? undefined : LAST_CHECKPOINT + 1)
  },
  'delete everything'() {
    cut(0)
    sql('DELETE FROM audit_heads')
    return truncated(0)
  },
  'rewrite the tail and keep the head'() {
    const from = upTo(ENTRIES)
    rechain(from)
    return from <= LAST_CHECKPOINT ? mismatch(from) : found('head-mismatch', LAST_CHECKPOINT + 1)
  },
  'rewrite the tail and sign it with another key'() {
    const from = upTo(ENTRIES)
    rechain(from)
    setHead(ENTRIES, ATTACKER_KEY)
    return from <= LAST_CHECKPOINT ? mismatch(from) : found('head-forged', LAST_CHECKPOINT + 1)
  },
  'rewrite everything with the database key'() {
    rechain(1)
    setHead(ENTRIES, KEYS[0])
    return mismatch(1)
  },
  'rewrite the tail with the database key'() {
    const from = upTo(2) === 1 ? upTo(ENTRIES) : LAST_CHECKPOINT + upTo(ENTRIES - LAST_CHECKPOINT)
    rechain(from)
    setHead(ENTRIES, KEYS[0])
    return from <= LAST_CHECKPOINT ? mismatch(from) : unseen(ENTRIES)
  },
  'roll back the file'() {
    const last = upTo(2) === 1 ? upTo(ENTRIES - 1) : LAST_CHECKPOINT - 1 + upTo(10)
    cut(last)
    setHead(last, KEYS[0])
    return last < LAST_CHECKPOINT ? truncated(last) : unseen(last)
  },
}

async function attack(damage: () => Expected) {
  db.database.exec('BEGIN')
  try {
    const expected = damage()
    return { expected, verification: await verify() }
  } finally {
    db.database.exec('ROLLBACK')
  }
}

const asExpected = ({ reason, firstBadSeq, unanchoredTail }: Expected) =>
  reason === undefined ? { ok: true, unanchoredTail } : { ok: false, reason, firstBadSeq }

describe(`an audit file of ${ENTRIES} entries with ten checkpoints`, () => {
  it('passes verification while untouched', async () => {
    expect(await verify()).toEqual({
      ok: true,
      entries: ENTRIES,
      head: { seq: ENTRIES, hash: hashAt(ENTRIES) },
      checkpoint: {
        seq: LAST_CHECKPOINT,
        hash: hashAt(LAST_CHECKPOINT),
        at: new Date(entryOf(LAST_CHECKPOINT).at).toISOString(),
      },
      unanchoredTail: ENTRIES - LAST_CHECKPOINT,
      firstBadSeq: undefined,
      reason: undefined,
    })
  })

  it(`fails verification at the right entry after each of ${ATTACKS} attacks, except those that leave no trace`, async () => {
    console.log(`seed ${SEED} (set E2E_SEED to repeat)`)
    const tally: Record<string, { detected: number; unanchored: number }> = {}
    const kinds = Object.entries(KINDS)
    for (let n = 0; n < ATTACKS; n++) {
      const [name, damage] = kinds[n % kinds.length]!
      const { expected, verification } = await attack(damage)

      expect({ name, ...verification }).toMatchObject({ name, ...asExpected(expected) })
      tally[name] ??= { detected: 0, unanchored: 0 }
      tally[name][verification.ok ? 'unanchored' : 'detected'] += 1
    }
    console.table(tally)
    const withTheKey = ['rewrite the tail with the database key', 'roll back the file']
    for (const [name, { unanchored }] of Object.entries(tally)) {
      if (withTheKey.includes(name)) expect(unanchored).toBeGreaterThan(0)
      else expect([name, unanchored]).toEqual([name, 0])
    }
    expect((await verify()).ok).toBe(true)
  })

  it('fails verification when its unanchored tail differs from the size and hash that the caller passes', async () => {
    const remembered = { size: ENTRIES, hash: hashAt(ENTRIES) }
    expect((await verify(remembered)).ok).toBe(true)

    const rewritten = await attackExpecting(() => {
      rechain(ENTRIES - 1)
      setHead(ENTRIES, KEYS[0])
    }, remembered)
    expect(rewritten).toMatchObject({ ok: false, reason: 'expected-mismatch', firstBadSeq: LAST_CHECKPOINT + 1 })

    const rolledBack = await attackExpecting(() => {
      cut(ENTRIES - 3)
      setHead(ENTRIES - 3, KEYS[0])
    }, remembered)
    expect(rolledBack).toMatchObject({ ok: false, reason: 'truncated', firstBadSeq: ENTRIES - 2 })
  })

  it('is rejected when a checkpoint is signed with an unknown key', async () => {
    const line = `perdure.audit 5 ${'A'.repeat(43)}= 2026-01-01T00:00:00.000Z — perdure.audit ${'A'.repeat(92)}\n`
    appendFileSync(join(directory, 'checkpoints'), line)

    expect(await verify()).toMatchObject({ ok: false, reason: 'checkpoint-forged' })
  })
})

async function attackExpecting(damage: () => void, remembered: { readonly size: number; readonly hash: string }) {
  db.database.exec('BEGIN')
  try {
    damage()
    return await verify(remembered)
  } finally {
    db.database.exec('ROLLBACK')
  }
}
