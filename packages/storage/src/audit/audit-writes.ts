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
import { takeLock } from '../lock.ts'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { deleteBy, insertInto } from '../query/table-queries.ts'
import type { Transaction, WriteAppliers, WriteOf, WritesOf } from '../transaction.ts'
import { auditReads } from './audit-log.ts'
import type { AuditHeadTable, AuditOutboxTable, AuditSourceTable, AuditTable } from './audit-tables.ts'

export const auditWrites: WriteAppliers<WritesOf<'audit'>> = {
  *'audit.append'(tx, write) {
    return yield* orAuditUnavailable(tx.db, append(tx, write))
  },
  *'audit.stage'({ db }, write) {
    return yield* orAuditUnavailable(db, stage(db, write))
  },
  *'audit.release'({ db }, { keys }) {
    let changes = 0
    for (const key of keys)
      changes += (yield* db.run(deleteStaged, { id: key })) + (yield* db.run(deleteSource, { id: key }))
    return changes
  },
  *'audit.prune'({ db }, { throughSeq, keys = NO_AUDIT_KEY }) {
    const link = yield* db.get(selectLink, { seq: throughSeq })
    if (link === undefined) return 0
    yield* putHead(db, 'base', { ...link, mac: baseMac(digest, keys[0], link) })
    return yield* db.run(deleteThrough, { seq: throughSeq })
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

/** The chain has one writer at a time. A lock of its own, because an empty chain has no row to lock. */
const lockChain = (db: Db): Program<void> => takeLock(db, 'chain')

function* append(tx: Transaction, write: WriteOf<'audit.append'>): Program<number> {
  const { db } = tx
  const { entry, source, publish, keys = NO_AUDIT_KEY } = write
  if (source !== undefined && (yield* db.run(insertSource, { key: source })) === 0) return 0
  if (tx.chain === undefined) yield* lockChain(db)
  const { links, head } = appendEntry(tx.chain ?? (yield* auditReads.state(db)), entry, { keys, digest })
  for (const { seq, hash, prevHash, entry: text } of links) {
    yield* db.run(insertEntry, { seq, hash, prev_hash: prevHash, entry: text })
  }
  yield* putHead(db, 'head', head)
  tx.chain = { last: head, head }
  if (publish === true) tx.append(links.map(auditEvent))
  return links.length
}

function* stage(db: Db, { key, entry }: WriteOf<'audit.stage'>): Program<number> {
  return yield* db.run(insertStaged, { key, entry: JSON.stringify(entry) })
}

/** Fails the commit with `audit-unavailable`: an action that cannot be audited must not happen. */
function* orAuditUnavailable<T>({ dialect }: Db, work: Program<T>): Program<T> {
  try {
    return yield* work
  } catch (error) {
    throw dialect.isRejected(error) ? perdureError('audit-unavailable', { retryAfter: 5_000, cause: error }) : error
  }
}

function* putHead(db: Db, name: AuditHeadTable['name'], head: AuditHead): Program<void> {
  yield* db.run(replaceHead, { name, ...head })
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

const insertSource = insertInto<AuditSourceTable>('audit_sources', ['key'])
const insertStaged = insertInto<Pick<AuditOutboxTable, 'key' | 'entry'>>('audit_outbox', ['key', 'entry'])
const deleteStaged = deleteBy('key', 'audit_outbox')
const deleteSource = deleteBy('key', 'audit_sources')

const selectLink = compile<{ readonly seq: number }, Pick<AuditTable, 'seq' | 'hash'>>((param) =>
  from.selectFrom('audit_entries').select(['seq', 'hash']).where('seq', '=', param('seq')),
)

const deleteThrough = compile<{ readonly seq: number }, unknown>((param) =>
  from.deleteFrom('audit_entries').where('seq', '<=', param('seq')),
)
