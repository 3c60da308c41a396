import { sql } from 'kysely'
import { compile } from '../query/compile.ts'
import { from } from '../query/from.ts'

/** Jumps through the index from one owner to the next, so the number of runs does not matter. */
export const RUN_OWNERS = compile<{ limit: number }, { readonly owner: string | null }>((param) =>
  from
    .withRecursive('owners(owner)', (db) =>
      db
        .selectFrom('runs')
        .select(({ fn }) => fn.min<string | null>('owner').as('owner'))
        .unionAll(
          db
            .selectFrom('owners')
            .select((eb) =>
              eb
                .selectFrom('runs')
                .select(({ fn }) => fn.min<string | null>('owner').as('owner'))
                .where('owner', '>', sql<string>`owners.owner`)
                .as('owner'),
            )
            .where('owners.owner', 'is not', null),
        ),
    )
    .selectFrom('owners')
    .select('owner')
    .limit(param('limit')),
)
