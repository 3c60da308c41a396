import { createInMemoryStorage } from '@perdure/in-memory'
import type { Storage } from '@perdure/ports'
import { describe, it } from 'vitest'
import { checkEngine } from './engine-model.fixture.ts'

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

describe('the run engine under random requests, code and crashes', {
  timeout: 300_000,
}, () => {
  it('keeps its invariants with a storage that answers immediately', () =>
    checkEngine({
      open: createInMemoryStorage,
      numRuns: Number(process.env.N ?? 2_000),
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

  it('keeps its invariants with a new random seed', () => checkEngine({ open: createInMemoryStorage, numRuns: 200 }))
})
