import { describe, expect, it } from 'vitest'
import { compile, from, placesFor } from './query.ts'

describe('compile', () => {
  it('binds values by name in the order of their places, as often as they are named', () => {
    const query = compile<{ id: string; at: number }, unknown>((place) =>
      from
        .updateTable('tokens')
        .set({ revoked_at: place('at'), last_used_at: place('at') })
        .where('id', '=', place('id')),
    )

    expect(query.bind({ id: 'a', at: 5 })).toEqual([5, 5, 'a'])
  })

  it('keeps constants between the places', () => {
    const query = compile<{ name: 'epoch'; limit: number }, unknown>((place) =>
      from
        .selectFrom('meta')
        .selectAll()
        .where('value', '=', 'x')
        .where('name', '=', place('name'))
        .limit(place('limit')),
    )

    expect(query.bind({ limit: 3, name: 'epoch' })).toEqual(['x', 'epoch', 3])
  })

  it('hides every place from the planner, so that binding never recompiles the statement', () => {
    const query = compile<{ name: 'epoch'; limit: number }, unknown>((place) =>
      from.selectFrom('meta').selectAll().where('name', '=', place('name')).limit(place('limit')),
    )

    expect(query.sql).toBe('select * from "meta" where "name" = +? limit +?')
  })
})

describe('placesFor', () => {
  it('makes a place for each column', () => {
    const query = compile<{ key: number; run_id: string }, unknown>((place) =>
      from.insertInto('run_keys').values(placesFor(place, ['key', 'run_id'])),
    )

    expect(query.sql).toBe('insert into "run_keys" ("key", "run_id") values (+?, +?)')
    expect(query.bind({ run_id: 'a', key: 1 })).toEqual([1, 'a'])
  })
})
