import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import {
  AppError,
  type AuditHead,
  appendEntry,
  auditEvent,
  baseMac,
  type ChainDigest,
  NO_AUDIT_KEY,
} from '@perdure/ports'
import { readAuditState } from './audit-log.ts'
import { eventWrites } from './event-writes.ts'
import { compile, from, placesFor } from './query.ts'
import type { AuditHeadTable, AuditOutboxTable, AuditSourceTable, AuditTable } from './schema.ts'
import { isRefusal } from './sqlite-error.ts'
import type { Transaction, WriteAppliers, WriteOf } from './write-applier.ts'

export const auditWrites: WriteAppliers<'audit.append' | 'audit.stage' | 'audit.release' | 'audit.prune'> = {
  'audit.append': (tx, write) => recording(() => append(tx, write)),
  'audit.stage': ({ db }, { key, entry }) =>
    recording(() => db.run(insertStaged, { key, entry: JSON.stringify(entry) }).changes),
  'audit.release'({ db }, { keys }) {
    let changes = 0
    for (const key of keys) changes += db.run(deleteStaged, { key }).changes + db.run(deleteSource, { key }).changes
    return changes
  },
  'audit.prune'({ db }, { throughSeq, keys = NO_AUDIT_KEY }) {
    const place = db.get(selectPlace, { seq: throughSeq })
    if (place === undefined) return 0
    putHead(db, 'base', { ...place, mac: baseMac(digest, keys[0], place) })
    return db.run(deleteThrough, { seq: throughSeq }).changes
  },
}

/** To make one costs more than to use it. */
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

/** What cannot be recorded must not be done. */
function recording<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw isRefusal(error) ? new AppError('audit-unavailable', { retryAfterMs: 5_000, cause: error }) : error
  }
}

const putHead = (db: Transaction['db'], name: AuditHeadTable['name'], head: AuditHead): void => {
  db.run(replaceHead, { name, ...head })
}

const insertEntry = compile<AuditTable, unknown>((place) =>
  from.insertInto('audit_entries').values(placesFor(place, ['seq', 'hash', 'prev_hash', 'entry'])),
)

const replaceHead = compile<AuditHeadTable, unknown>((place) =>
  from.replaceInto('audit_heads').values(placesFor(place, ['name', 'seq', 'hash', 'mac'])),
)

const insertSource = compile<AuditSourceTable, unknown>((place) =>
  from
    .insertInto('audit_sources')
    .values(placesFor(place, ['key']))
    .onConflict((conflict) => conflict.doNothing()),
)

const insertStaged = compile<Pick<AuditOutboxTable, 'key' | 'entry'>, unknown>((place) =>
  from
    .insertInto('audit_outbox')
    .values(placesFor(place, ['key', 'entry']))
    .onConflict((conflict) => conflict.doNothing()),
)

const deleteStaged = compile<AuditSourceTable, unknown>((place) =>
  from.deleteFrom('audit_outbox').where('key', '=', place('key')),
)

const deleteSource = compile<AuditSourceTable, unknown>((place) =>
  from.deleteFrom('audit_sources').where('key', '=', place('key')),
)

const selectPlace = compile<{ readonly seq: number }, Pick<AuditTable, 'seq' | 'hash'>>((place) =>
  from.selectFrom('audit_entries').select(['seq', 'hash']).where('seq', '=', place('seq')),
)

const deleteThrough = compile<{ readonly seq: number }, unknown>((place) =>
  from.deleteFrom('audit_entries').where('seq', '<=', place('seq')),
)
