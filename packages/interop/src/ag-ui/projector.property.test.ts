import { defaultApplyEvents, type RunAgentInput, verifyEvents } from '@ag-ui/client'
import { EventSchemas } from '@ag-ui/core/schemas'
import type { LogEvent } from '@perdure/core'
import fc from 'fast-check'
import { from, lastValueFrom, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'
import type { Frame, Projector } from '../projection.ts'
import { anyLog, RUN } from '../run-logs/events.fixture.ts'
import { runScript } from '../run-logs/run-script.fixture.ts'
import { createAgUiProjector } from './projector.ts'

const VIEW = { runId: RUN, agentId: 'mail', threadId: 't', clientRunId: 'r', history: [] }

type Shown = Parameters<typeof EventSchemas.parse>[0] & { readonly type: string }

const eventsOf = (frames: readonly Frame[]): readonly Shown[] => frames.map(({ data }) => JSON.parse(data))

/** What a client gets whose response begins after `k` events; without `k`, with the first event. */
function streamOf(log: readonly LogEvent[], k?: number): readonly Shown[] {
  const projector: Projector = createAgUiProjector(VIEW)
  for (const event of log.slice(0, k ?? 0)) projector.next(event)
  const opening = projector.opening(k === undefined ? 'rest' : 'all')
  const frames = [...opening, ...log.slice(k ?? 0).flatMap((event) => projector.next(event))]
  return eventsOf([...frames, ...(projector.rest() ?? [])])
}

/** As `streamOf`, for a client whose connection is cut behind a frame of the event `cut`, and that resumes at its cursor. */
function resumedStream(
  log: readonly LogEvent[],
  { k, cut, place }: { readonly k: number; readonly cut: number; readonly place: number },
): readonly Shown[] {
  if (cut >= log.length) return streamOf(log, k)
  const joined: Projector = createAgUiProjector(VIEW)
  for (const event of log.slice(0, k)) joined.next(event)
  const opening = joined.opening('all')
  const shown = log.slice(k, cut).flatMap((event) => joined.next(event))
  const lost = log.slice(cut, cut + 1).flatMap((event) => joined.next(event))
  const resumed: Projector = createAgUiProjector(VIEW)
  const frames = log.map((event) => resumed.next(event))
  const rest = [...(frames[cut] ?? []).slice(place), ...frames.slice(cut + 1).flat(), ...(resumed.rest() ?? [])]
  return eventsOf([...opening, ...shown, ...lost.slice(0, place), ...rest])
}

const verified = (events: readonly Shown[]) => lastValueFrom(from(events as never[]).pipe(verifyEvents(), toArray()))

describe('the stream for AG-UI', () => {
  it('consists of events that the official schema accepts', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        for (const event of streamOf(log)) {
          expect(EventSchemas.safeParse(event).error?.issues, JSON.stringify(event)).toBeUndefined()
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('passes the official verification, also for a client that joins later', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog, fc.option(fc.nat({ max: 40 }), { nil: undefined }), async (log, k) => {
        await verified(streamOf(log, k))
      }),
      { numRuns: 1_000 },
    )
  })

  it('passes the official verification for a client that joins later and resumes after a cut', async () => {
    const at = fc.nat({ max: 60 })
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyLog, runScript), at, at, fc.nat({ max: 4 }), async (log, k, more, place) => {
        await verified(resumedStream(log, { k, cut: k + more, place }))
      }),
      { numRuns: 1_000 },
    )
  })

  it('gives a client that joins later the same messages', async () => {
    await fc.assert(
      fc.asyncProperty(runScript, fc.nat({ max: 60 }), async (log, k) => {
        expect(await messagesOf(streamOf(log, k))).toEqual(await messagesOf(streamOf(log)))
      }),
      { numRuns: 300 },
    )
  })
})

/** The messages of the client after it has applied the events. */
async function messagesOf(events: readonly Shown[]): Promise<unknown> {
  const input: RunAgentInput = {
    threadId: 't',
    runId: 'r',
    messages: [],
    tools: [],
    context: [],
    forwardedProps: {},
    state: {},
  } as never
  const agent = { messages: [], state: {}, subscribers: [], pendingInterrupts: [] } as never
  let messages: readonly Record<string, unknown>[] = []
  const applied = defaultApplyEvents(input, from(events as never[]), agent, [])
  await new Promise<void>((resolve, reject) => {
    applied.subscribe({
      next: (change) => {
        if (change.messages !== undefined) messages = change.messages as never
      },
      error: reject,
      complete: resolve,
    })
  })
  return JSON.parse(JSON.stringify(messages)).filter(
    ({ content, toolCalls }: Record<string, unknown>) => content !== '' || toolCalls !== undefined,
  )
}
