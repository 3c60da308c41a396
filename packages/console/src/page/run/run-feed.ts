import type { PerdureClient } from '@perdure/client'
import { useEffect, useState } from 'preact/hooks'
import { type Failure, failureOf } from '../client/failure.ts'
import type { Event, Run } from '../client/resources.ts'
import { targetOf } from '../client/resources.ts'
import { createDrawPace } from '../parts/draw-pace.ts'
import { createSpanFold, type Span } from './span-fold.ts'

/** The log of a run as far as it was read. */
export interface RunLog {
  readonly events: readonly Event[]
  readonly spans: readonly Span[]
  /** Changes with every event. */
  readonly version: number
  /** Earlier events were removed by retention. */
  readonly hasGap: boolean
  readonly failure: Failure | undefined
}

const EMPTY: RunLog = { events: [], spans: [], version: 0, hasGap: false, failure: undefined }

/** Reads the log of a run from its first event, and follows it while the run is active. */
export function useRunLog(client: PerdureClient, run: Pick<Run, 'id' | 'agentId' | 'workflowId'> | undefined): RunLog {
  const [log, setLog] = useState(EMPTY)
  const { kind, id } = run === undefined ? { kind: '', id: '' } : targetOf(run)
  const runId = run?.id
  useEffect(() => {
    if (runId === undefined) return
    const ending = new AbortController()
    const events: Event[] = []
    const fold = createSpanFold()
    let hasGap = false
    const draw = (failure?: Failure) => setLog({ events, spans: fold.spans, version: events.length, hasGap, failure })
    const pace = createDrawPace(() => draw())
    const read = async () => {
      const options = { signal: ending.signal, bufferSize: 10_000 }
      for await (const item of client.subscribe(`${kind}:${id}/runs/${runId}/events`, options)) {
        if (item.type === 'gap') hasGap = true
        else {
          events.push(item.event)
          fold.add(item.event)
        }
        pace.drawSoon()
      }
    }
    setLog(EMPTY)
    read().catch((error) => ending.signal.aborted || draw(failureOf(error)))
    return () => {
      pace.stop()
      ending.abort()
    }
  }, [client, kind, id, runId])
  return log
}
