import type { JsonText, TicketLimits, TicketRecord, TicketStore } from '@perdure/ports'
import { compile } from '@perdure/storage'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { from } from '../query/compile.ts'
import type { TicketTable } from './access-schema.ts'

/** Tickets that every process on the schema can take. */
export const createTicketStore = (db: Connection): TicketStore => ({
  async insert({ digest, holder, principal, origin = null, expiresAt }, { perHolder, total }, now) {
    const inserted = await db.get(INSERT, { digest, holder, principal, origin, expiresAt, perHolder, total, now })
    return inserted?.inserted === true
  },
  async take(digest, now) {
    const row = await db.get(TAKE, { digest })
    if (row === undefined) return (await db.get(FIND, { digest })) && 'spent'
    return row.expires_at <= now ? 'spent' : toRecord(row)
  },
})

type TicketRow = Pick<TicketTable, 'digest' | 'holder' | 'principal' | 'origin' | 'expires_at'>

interface NewTicket extends Omit<TicketRecord, 'origin'>, TicketLimits {
  readonly origin: string | null
  readonly now: number
}

const INSERT = compile<NewTicket, { inserted: boolean }>(
  (param) => sql<{
    inserted: boolean
  }>`select insert_ticket(${param('digest')}, ${param('holder')}, ${param('principal')},
      ${param('origin')}, ${param('expiresAt')}, ${param('perHolder')}, ${param('total')}, ${param('now')}) as inserted`,
)

/** Of concurrent statements, the first one locks the row; the others then find it spent. */
const TAKE = compile<{ digest: string }, TicketRow>(
  (
    param,
  ) => sql<TicketRow>`with taken as (select * from tickets where digest = ${param('digest')} and not is_spent for update)
      update tickets set is_spent = true, principal = '' from taken where tickets.number = taken.number
      returning taken.digest, taken.holder, taken.principal, taken.origin, taken.expires_at`,
)

const FIND = compile<{ digest: string }, { digest: string }>((param) =>
  from.selectFrom('tickets').select('digest').where('digest', '=', param('digest')),
)

const toRecord = ({ digest, holder, principal, origin, expires_at }: TicketRow): TicketRecord => ({
  digest,
  holder,
  principal: principal as JsonText,
  ...(origin === null ? {} : { origin }),
  expiresAt: expires_at,
})
