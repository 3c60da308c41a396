import { createInMemoryStorage } from '@perdure/in-memory'
import type { Storage } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { checkEngine, checkEveryCommit } from './engine-model.fixture.ts'

type Commit = Storage['unitOfWork']['commit']

const pause = async (turns: number) => {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

const withCommit = (storage: Storage, commit: Commit): Storage => ({ ...storage, unitOfWork: { commit } })

/** Like a disk: a commit takes a few event loop turns, and the next commit waits for it. */
function withLatency(storage: Storage): Storage {
  let queue: Promise<unknown> = Promise.resolve()
  let count = 0
  return withCommit(storage, (writes) => {
    const turns = count++ % 4
    const done = queue.then(() => pause(turns)).then(() => storage.unitOfWork.commit(writes))
    queue = done.catch(() => undefined)
    return done
  })
}

/** Like another thread: a commit is readable before its caller gets the answer. Answers arrive in commit order. */
function withLateAnswers(storage: Storage): Storage {
  let answered: Promise<unknown> = Promise.resolve()
  let count = 0
  return withCommit(storage, async (writes) => {
    const turns = count++ % 4
    const committed = storage.unitOfWork.commit(writes)
    const before = answered
    const answer = (async () => {
      const outcome = await committed
      await pause(turns)
      await before
      return outcome
    })()
    answered = answer.catch(() => undefined)
    return answer
  })
}

const SEED = 20_261_121

/** The first history from this seed on has a commit of every kind below, and is short: 77 commits. */
const SWEEP_SEED = 385

describe('the run engine under random requests, code and crashes', {
  timeout: 1_200_000,
}, () => {
  it('keeps its invariants with a storage that answers immediately', () =>
    checkEngine({
      open: createInMemoryStorage,
      numRuns: Number(process.env.N ?? 700),
      seed: Number(process.env.SEED ?? SEED),
    }))

  it('keeps its invariants with a storage that commits slowly', () =>
    checkEngine({
      open: () => withLatency(createInMemoryStorage()),
      numRuns: Number(process.env.N ?? 150),
      seed: Number(process.env.SEED ?? SEED),
    }))

  it('keeps its invariants with a storage that answers late', () =>
    checkEngine({
      open: () => withLateAnswers(createInMemoryStorage()),
      numRuns: Number(process.env.N ?? 150),
      seed: Number(process.env.SEED ?? SEED),
    }))

  it('keeps its invariants with a crash before and after every commit of a history', async () => {
    const crashes = await checkEveryCommit({
      open: createInMemoryStorage,
      numRuns: Number(process.env.SWEEPS ?? 1),
      seed: Number(process.env.SEED ?? SWEEP_SEED),
      commits: ['fork', 'retry', 'park', 'version', 'decision'],
    })
    expect(crashes).toBeGreaterThan(100)
  })

  it('keeps its invariants with a new random seed', () => checkEngine({ open: createInMemoryStorage, numRuns: 200 }))
})
