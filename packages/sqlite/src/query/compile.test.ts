import { compile, paramsFor } from '@perdure/storage'
import { describe, expect, it } from 'vitest'
import { from } from './compile.ts'
import { SQLITE } from './dialect.ts'

describe('compile', () => {
  it('binds values by name in parameter order, once for each use of a parameter', () => {
    const query = compile<{ id: string; at: number }, unknown>((param) =>
      from
        .updateTable('tokens')
        .set({ revoked_at: param('at'), last_used_at: param('at') })
        .where('id', '=', param('id')),
    )

    expect(query.in(SQLITE).bind({ id: 'a', at: 5 })).toEqual([5, 5, 'a'])
  })

  it('keeps constants in their position between parameters', () => {
    const query = compile<{ name: 'epoch'; limit: number }, unknown>((param) =>
      from
        .selectFrom('meta')
        .selectAll()
        .where('value', '=', 'x')
        .where('name', '=', param('name'))
        .limit(param('limit')),
    )

    expect(query.in(SQLITE).bind({ limit: 3, name: 'epoch' })).toEqual(['x', 'epoch', 3])
  })

  it('hides every parameter from the planner, so that binding never recompiles the statement', () => {
    const query = compile<{ name: 'epoch'; limit: number }, unknown>((param) =>
      from.selectFrom('meta').selectAll().where('name', '=', param('name')).limit(param('limit')),
    )

    expect(query.in(SQLITE).text).toBe('select * from "meta" where "name" = +? limit +?')
  })
})

describe('paramsFor', () => {
  it('creates a parameter for each column', () => {
    const query = compile<{ key: number; run_id: string }, unknown>((param) =>
      from.insertInto('run_keys').values(paramsFor(param, ['key', 'run_id'])),
    )

    expect(query.in(SQLITE).text).toBe('insert into "run_keys" ("key", "run_id") values (+?, +?)')
    expect(query.in(SQLITE).bind({ run_id: 'a', key: 1 })).toEqual([1, 'a'])
  })
})
