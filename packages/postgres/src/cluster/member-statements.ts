import { DUTIES } from '@perdure/ports'
import { compile } from '@perdure/storage'
import { sql } from 'kysely'
import { leaseEnd } from '../host/node.ts'
import { from } from '../query/compile.ts'

interface NodeId {
  readonly id: string
}

/** Changes no row if another member has removed the node. */
export const RENEW_LEASE = compile<NodeId & { leaseMs: number }, { drain_requested: boolean; now: number }>((param) =>
  from
    .updateTable('nodes')
    .set({ lease_until: leaseEnd(param('leaseMs')) })
    .where('id', '=', param('id'))
    .returning(['drain_requested', sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`.as('now')]),
)

export const MARK_DRAINING = compile<NodeId, unknown>((param) =>
  from.updateTable('nodes').set({ is_draining: true }).where('id', '=', param('id')),
)

/** Takes the duties that no living node holds, and lists all duties of the node. */
export const TAKE_DUTIES = compile<NodeId, { name: (typeof DUTIES)[number] }>(
  (param) => sql<{ name: (typeof DUTIES)[number] }>`with taken as (insert into duties (name, node)
      select wanted.name, ${param('id')} from unnest(${sql.lit(`{${DUTIES.join(',')}}`)}::text[]) as wanted (name)
      where not exists (select from duties join nodes on nodes.id = duties.node where duties.name = wanted.name)
        and exists (select from nodes where id = ${param('id')})
      on conflict (name) do update set node = excluded.node
      where not exists (select from nodes where nodes.id = duties.node) returning duties.name)
      select name from taken union select name from duties where node = ${param('id')}`,
)

export const RELEASE_DUTIES = compile<NodeId, unknown>((param) =>
  from.deleteFrom('duties').where('node', '=', param('id')),
)

/**
 * Deletes the rows of the members whose lease ran out, each once, and names them in `departed_nodes`. Waits for the
 * transactions of these members that are in progress.
 */
export const REAP = compile<NodeId, unknown>(
  (param) => sql`with gone as (
        delete from nodes where id = any(array(
          select id from nodes where role = 'member' and lease_until < clock_timestamp() and id <> ${param('id')}
          for update))
        and lease_until < clock_timestamp() returning id)
      insert into departed_nodes (id) select id from gone`,
)

export const LIST_DEPARTED = compile<object, { id: string; departed_ms: number }>(
  () => sql<{ id: string; departed_ms: number }>`select id,
      (extract(epoch from clock_timestamp() - departed_at) * 1000)::bigint as departed_ms
      from departed_nodes order by departed_at, id`,
)

export const DISMISS = compile<NodeId, unknown>(
  (param) => sql`with markers as (delete from node_groups where node = ${param('id')})
      delete from departed_nodes where id = ${param('id')}`,
)
