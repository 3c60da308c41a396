import type { ListedRun, RunStore } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { withdrawnAmong } from './withdrawn-messages.ts'

type Row = Pick<ListedRun<never>, 'id' | 'finishReason' | 'withdrawnBy'>

/** The runs of a conversation. */
const storeOf = (rows: readonly Row[]): Pick<RunStore, 'list'> => ({
  list: async ({ ids }) => ({ items: rows.filter(({ id }) => ids?.includes(id)) as never, nextCursor: null }),
})

const run = (id: string, finishReason: Row['finishReason'], withdrawnBy?: string): Row => ({
  id,
  ...(finishReason === undefined ? {} : { finishReason }),
  ...(withdrawnBy === undefined ? {} : { withdrawnBy }),
})

describe('withdrawnAmong', () => {
  it('counts a run that another one has withdrawn, as a regenerated answer', async () => {
    const runs = storeOf([run('first', 'completed', 'second'), run('second', 'completed')])
    expect(await withdrawnAmong(runs, new Set(['first', 'second']))).toEqual(new Set(['first']))
  })

  it('counts a message that a turn has taken only once that turn is withdrawn', async () => {
    const joined = run('message', 'joined', 'turn')
    const taken = storeOf([joined, run('turn', 'completed')])
    expect(await withdrawnAmong(taken, new Set(['message', 'turn']))).toEqual(new Set())
    const withdrawn = storeOf([joined, run('turn', 'completed', 'later'), run('later', 'completed')])
    expect(await withdrawnAmong(withdrawn, new Set(['message', 'turn', 'later']))).toEqual(new Set(['message', 'turn']))
  })

  it('reads the turn that has taken a message even if its own messages are not asked for', async () => {
    const withdrawn = storeOf([run('message', 'joined', 'turn'), run('turn', 'completed', 'later')])
    expect(await withdrawnAmong(withdrawn, new Set(['message']))).toEqual(new Set(['message']))
  })
})
