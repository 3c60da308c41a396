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
import { isStatementError } from '../file/sqlite-error.ts'
import { compile, from } from '../query/compile.ts'
import { readAuditState } from './audit-log.ts'
import { eventWrites } from './event-writes.ts'
import type { Transaction, WriteAppliers, WriteOf } from './write-applier.ts'

export const auditWrites: WriteAppliers<'audit.append' | 'audit.stage' | 'audit.release' | 'audit.prune'> = {
  'audit.append': (tx, write) => orAuditUnavailable(() => append(tx, write)),
  'audit.stage': ({ db }, { key, entry }) =>
    orAuditUnavailable(() => db.run(insertStaged, { key, entry: JSON.stringify(entry) }).changes),
  'audit.release'({ db }, { keys }) {
    let changes = 0
    for (const key of keys) changes += db.run(deleteStaged, { key }).changes + db.run(deleteSource, { key }).changes
    return changes
  },
  'audit.prune'({ db }, { throughSeq, keys = NO_AUDIT_KEY }) {
    const link = db.get(selectLink, { seq: throughSeq })
    if (link === undefined) return 0
    putHead(db, 'base', { ...link, mac: baseMac(digest, keys[0], link) })
    return db.run(deleteThrough, { seq: throughSeq }).changes
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

function append(tx: Transaction, { entry, source, publish, keys = NO_AUDIT_KEY }: WriteOf<'audit.append'>): number {
  const { db } = tx
  if (source !== undefined && db.run(insertSource, { key: source }).changes === 0) return 0
  const { links, head } = appendEntry(tx.chain ?? readAuditState(db), entry, { keys, digest })
  for (const { seq, hash, prevHash, entry: text } of links) {
    db.run(insertEntry, { seq, hash, prev_hash: prevHash, entry: text })
  }
  putHead(db, 'head', head)
  tx.chain = { last: head, head }
  if (publish === true) eventWrites['event.append'](tx, { type: 'event.append', events: links.map(auditEvent) })
  return links.length
}

/** Fails the commit with `audit-unavailable`: an action that cannot be audited must not happen. */
function orAuditUnavailable<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw isStatementError(error) ? perdureError('audit-unavailable', { retryAfter: 5_000, cause: error }) : error
  }
}

const putHead = (db: Transaction['db'], name: AuditHeadTable['name'], head: AuditHead): void => {
  db.run(replaceHead, { name, ...head })
}

const insertEntry = compile<AuditTable, unknown>((param) =>
  from.insertInto('audit_entries').values(paramsFor(param, ['seq', 'hash', 'prev_hash', 'entry'])),
)

const replaceHead = compile<AuditHeadTable, unknown>((param) =>
  from.replaceInto('audit_heads').values(paramsFor(param, ['name', 'seq', 'hash', 'mac'])),
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
