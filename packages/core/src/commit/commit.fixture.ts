import { noMeter, type UnitOfWork } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { createEventHub } from '../realtime/event-hub.ts'
import { type CommitDeps, createCommit } from './create-commit.ts'

/** The commit of the use cases over a storage. What a test does not give does nothing. */
export const commitOver = (unitOfWork: UnitOfWork, over: Partial<CommitDeps> = {}): UnitOfWork =>
  createCommit({
    ...{ unitOfWork, clock: createManualClock(), meter: noMeter, hub: createEventHub() },
    ...{ outside: (fn) => fn(), onDeliveriesDue: () => undefined, ...over },
  })
