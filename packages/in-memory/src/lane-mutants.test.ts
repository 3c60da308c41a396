import { BUILT_AT, laneStoreCases, runStoreCases } from '@perdure/testkit'
import { expectCaught, justBefore, rewriting } from './contract-mutants.fixture.ts'

expectCaught([
  {
    fault: 'frees a slot a millisecond late',
    breakPorts: rewriting((write) => (write.type === 'lane.take' ? { ...write, now: justBefore(write.now) } : write)),
    cases: laneStoreCases,
    caughtBy: 'takes the slot of another run exactly from freeAt',
  },
  {
    fault: 'takes the free slots of a write whose other slots are taken',
    breakPorts: ({ unitOfWork }) => ({
      unitOfWork: {
        async commit(writes) {
          const outcome = await unitOfWork.commit(writes)
          const take = writes.find((write) => write.type === 'lane.take')
          if (outcome.committed || take === undefined) return outcome
          for (const slot of take.slots) await unitOfWork.commit([{ ...take, slots: [slot] }])
          return outcome
        },
      },
    }),
    cases: laneStoreCases,
    caughtBy: 'refuses a slot that another run holds, returns that slot and takes nothing',
  },
  {
    fault: 'lets the slots of an ended run stay taken',
    breakPorts: ({ unitOfWork, lanes }) => ({
      unitOfWork: {
        async commit(writes) {
          const before = await lanes.taken({ now: BUILT_AT, limit: 100 })
          const outcome = await unitOfWork.commit(writes)
          const ends = writes.flatMap((write) => (write.type === 'run.transition' ? [write.runId] : []))
          for (const { runId, ...slot } of before.filter((taken) => ends.includes(taken.runId)))
            await unitOfWork.commit([{ type: 'lane.take', runId, slots: [slot], now: BUILT_AT }])
          return outcome
        },
      },
    }),
    cases: laneStoreCases,
    caughtBy: 'frees the slots without freeAt when their run is no longer running, and no others',
  },
  {
    fault: 'forgets when a slot becomes free',
    breakPorts: rewriting((write) =>
      write.type === 'lane.take' ? { ...write, slots: write.slots.map(({ lane, slot }) => ({ lane, slot })) } : write,
    ),
    cases: laneStoreCases,
    caughtBy: 'frees the slots without freeAt of every deleted run, and keeps those with freeAt',
  },
  {
    fault: 'lists the slot after which a list continues',
    breakPorts: ({ lanes }) => ({
      lanes: {
        taken: ({ after, ...query }) =>
          lanes.taken(after === undefined ? query : { ...query, after: { ...after, slot: after.slot - 1 } }),
      },
    }),
    cases: laneStoreCases,
    caughtBy: 'continues after a slot that nothing takes any more',
  },
  {
    fault: 'prunes a slot a millisecond early',
    breakPorts: rewriting((write) =>
      write.type === 'lane.prune' ? { ...write, now: (write.now + 1) as typeof write.now } : write,
    ),
    cases: laneStoreCases,
    caughtBy: 'prunes exactly the slots that are free, up to the limit',
  },
  {
    fault: 'forgets the deleted runs of a day as soon as it is over',
    breakPorts: rewriting((write) =>
      write.type === 'usage.prune' ? { ...write, now: (write.now + 86_400_000) as typeof write.now } : write,
    ),
    cases: runStoreCases,
    caughtBy: 'prunes what is known of deleted runs once the day after theirs is over, up to the limit',
  },
  {
    fault: 'ignores the start time of a transition',
    breakPorts: rewriting((write) => (write.type === 'run.transition' ? { ...write, startAt: undefined } : write)),
    cases: runStoreCases,
    caughtBy: 'makes a transition with a start time only while the run has that start time',
  },
  {
    fault: 'keeps the input of a run',
    breakPorts: rewriting((write) =>
      write.type === 'run.transition' ? { ...write, change: { ...write.change, input: undefined } } : write,
    ),
    cases: runStoreCases,
    caughtBy: 'reads the input that a transition replaced, in every list and as a stored text',
  },
])
