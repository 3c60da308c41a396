import { compile, type LockName, type Query } from '@perdure/storage'
import { sql } from 'kysely'

/** The first key of each advisory lock; the second is the hash of the schema. */
const KEYS: Readonly<Record<LockName, number>> = {
  log: 0x62_65_72_74,
  chain: 0x62_65_72_61,
  families: 0x62_65_72_76,
  files: 0x62_65_72_66,
  webhooks: 0x62_65_72_77,
  triggers: 0x62_65_72_67,
  fires: 0x62_65_72_69,
}

/** Subjects with one hash share a lock, which costs them only time. */
export const LOCK_SUBJECT = compile<{ subject: string }, unknown>(
  (param) =>
    sql`select pg_advisory_xact_lock(${sql.lit(0x62_65_72_73)}, hashtext(current_schema() || ' ' || ${param('subject')}))`,
)

const lock = (name: LockName): Query<object, unknown> =>
  compile(() => sql`select pg_advisory_xact_lock(${sql.lit(KEYS[name])}, hashtext(current_schema()))`)

export const LOCKS: Readonly<Record<LockName, Query<object, unknown>>> = {
  /**
   * Serializes insertions into the log, so that positions follow the order of commits. A statement of its own: the
   * insertion must see every position that was committed before the lock was granted.
   */
  log: lock('log'),
  chain: lock('chain'),
  families: lock('families'),
  files: lock('files'),
  webhooks: lock('webhooks'),
  triggers: lock('triggers'),
  fires: lock('fires'),
}
