import type { RunStatus } from '@perdure/ports'
import { type RawBuilder, sql } from 'kysely'

/** The statuses as literals for an `in (…)` list. Literals, because the planner matches partial indexes by their text. */
export const statusList = (statuses: readonly RunStatus[]): RawBuilder<unknown> =>
  sql.join(statuses.map((status) => sql.lit(status)))
