import type { RunStatus } from '@perdure/ports'
import { type RawBuilder, sql } from 'kysely'

/** The statuses for an `in (…)` list, as literals: the planner matches a partial index by the text of its condition. */
export const statusList = (statuses: readonly RunStatus[]): RawBuilder<unknown> =>
  sql.join(statuses.map((status) => sql.lit(status)))
