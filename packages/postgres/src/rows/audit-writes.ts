import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import {
  type AuditHead,
  appendEntry,
  auditEvent,
  baseMac,
  type ChainDigest,
  NO_AUDIT_KEY,
  perdureError,
} from '@perdure/ports'
import {
  type AuditHeadTable,
  type AuditOutboxTable,
  type AuditSourceTable,
  type AuditTable,
  paramsFor,
} from '@perdure/sql'
import { sql } from 'kysely'
import { kindOf } from '../connection/postgres-error.ts'
import { compile, from } from '../query/compile.ts'
import { readAuditState } from './audit-log.ts'
import type { Transaction, WriteAppliers, WriteOf } from './write-applier.ts'

export const auditWrites: WriteAppliers<'audit.append' | 'audit.stage' | 'audit.release' | 'audit.prune'> = {
  'audit.append': (tx, write) => orAuditUnavailable(() => append(tx, write)),
  'audit.stage': ({ db }, { key, entry }) =>
    orAuditUnavailable(async () => (await db.run(insertStaged, { key, entry: JSON.stringify(entry) })).changes),
  async 'audit.release'({ db }, { keys }) {
    let changes = 0
    for (const key of keys) {
      changes += (await db.run(deleteStaged, { key })).changes + (await db.run(deleteSource, { key })).changes
    }
    return changes
  },
  async 'audit.prune'({ db }, { throughSeq, keys = NO_AUDIT_KEY }) {
    const link = await db.get(selectLink, { seq: throughSeq })
    if (link === undefined) return 0
    await putHead(db, 'base', { ...link, mac: baseMac(digest, keys[0], link) })
    return (await db.run(deleteThrough, { seq: throughSeq })).changes
  },
}

/** Caches key objects, because creating one takes longer than using it. */
const keyObjects = new WeakMap<Uint8Array, KeyObject>()

function keyObjectOf(key: Uint8Array): KeyObject {
  const known = keyObjects.get(key) ?? createSecretKey(key)
  keyObjects.set(key, known)
  return known
}

const digest: ChainDigest = {
  sha256: (text) => hash('sha256', text),
  hmacSha256: (key, text) => createHmac('sha256', keyObjectOf(key)).update(text).digest('hex'),
}

async function append(tx: Transaction, write: WriteOf<'audit.append'>): Promise<number> {
  const { db } = tx
  const { entry, source, publish, keys = NO_AUDIT_KEY } = write
  if (source !== undefined && (await db.run(insertSource, { key: source })).changes === 0) return 0
  if (tx.chain === undefined) await db.run(LOCK_CHAIN, {})
  const { links, head } = appendEntry(tx.chain ?? (await readAuditState(db)), entry, { keys, digest })
  for (const { seq, hash, prevHash, entry: text } of links) {
    await db.run(insertEntry, { seq, hash, prev_hash: prevHash, entry: text })
  }
  await putHead(db, 'head', head)
  tx.chain = { last: head, head }
  if (publish === true) tx.pending.push(...links.map(auditEvent))
  return links.length
}

/** Fails the commit with `audit-unavailable`: an action that cannot be audited must not happen. */
async function orAuditUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw kindOf(error) === 'rejected' ? perdureError('audit-unavailable', { retryAfter: 5_000, cause: error }) : error
  }
}

/** The chain has one writer at a time. A lock of its own, because an empty chain has no row to lock. */
const LOCK_CHAIN = compile<object, unknown>(() => ({
  compile: () => sql`select pg_advisory_xact_lock(${sql.lit(CHAIN_LOCK)}, hashtext(current_schema()))`.compile(from),
}))

/** The first key of the advisory lock of the audit chain; the second is the hash of the schema. */
const CHAIN_LOCK = 0x62_65_72_61

const putHead = async (db: Transaction['db'], name: AuditHeadTable['name'], head: AuditHead): Promise<void> => {
  await db.run(replaceHead, { name, ...head })
}

const insertEntry = compile<AuditTable, unknown>((param) =>
  from.insertInto('audit_entries').values(paramsFor(param, ['seq', 'hash', 'prev_hash', 'entry'])),
)

const replaceHead = compile<AuditHeadTable, unknown>((param) =>
  from
    .insertInto('audit_heads')
    .values(paramsFor(param, ['name', 'seq', 'hash', 'mac']))
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({
        seq: eb.ref('excluded.seq'),
        hash: eb.ref('excluded.hash'),
        mac: eb.ref('excluded.mac'),
      })),
    ),
)

const insertSource = compile<AuditSourceTable, unknown>((param) =>
  from
    .insertInto('audit_sources')
    .values(paramsFor(param, ['key']))
    .onConflict((conflict) => conflict.doNothing()),
)

const insertStaged = compile<Pick<AuditOutboxTable, 'key' | 'entry'>, unknown>((param) =>
  from
    .insertInto('audit_outbox')
    .values(paramsFor(param, ['key', 'entry']))
    .onConflict((conflict) => conflict.doNothing()),
)

const deleteStaged = compile<AuditSourceTable, unknown>((param) =>
  from.deleteFrom('audit_outbox').where('key', '=', param('key')),
)

const deleteSource = compile<AuditSourceTable, unknown>((param) =>
  from.deleteFrom('audit_sources').where('key', '=', param('key')),
)

const selectLink = compile<{ readonly seq: number }, Pick<AuditTable, 'seq' | 'hash'>>((param) =>
  from.selectFrom('audit_entries').select(['seq', 'hash']).where('seq', '=', param('seq')),
)

const deleteThrough = compile<{ readonly seq: number }, unknown>((param) =>
  from.deleteFrom('audit_entries').where('seq', '<=', param('seq')),
)
