import { useState } from 'preact/hooks'
import { may, useApp } from '../app-context.ts'
import { type Failure, failureOf } from '../client/failure.ts'
import { FailureNote } from '../parts/basics.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { createSpanFold, type Span } from './span-fold.ts'

const PAGE = 200
const MAX_PAGES = 50

/** The input and output of a span without redaction. Only some sessions may read them, and the audit log records it. */
export function RawValues({ runId, span }: { readonly runId: string; readonly span: Span }) {
  const app = useApp()
  const [raw, setRaw] = useState<Span | 'missing' | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  if (!may(app, 'traces:read:raw')) return null
  const read = async () => {
    try {
      setRaw((await readRaw(app.client, runId, span.id)) ?? 'missing')
    } catch (error) {
      setFailure(failureOf(error))
    }
  }
  if (failure !== undefined) return <FailureNote failure={failure} />
  if (raw === undefined) {
    return (
      <button type="button" onClick={() => void read()}>
        Show raw values <span class="quiet">(recorded in the audit log)</span>
      </button>
    )
  }
  if (raw === 'missing') return <p class="quiet">The recorded events do not contain this span.</p>
  return (
    <section class="note warn" aria-label="Raw values">
      Raw values, not redacted. The audit log has recorded that you have read them.
      {raw.input === undefined ? null : <JsonView value={raw.input} label="Raw input of the span" />}
      {raw.output === undefined ? null : <JsonView value={raw.output} label="Raw output of the span" />}
    </section>
  )
}

/** Both logs have the same events in the same order, so that their spans have the same ids. */
async function readRaw(
  client: ReturnType<typeof useApp>['client'],
  runId: string,
  spanId: string,
): Promise<Span | undefined> {
  const fold = createSpanFold()
  let cursor: string | undefined
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await client.runs.replay(runId, { raw: true, order: 'asc', limit: PAGE, cursor })
    for (const event of page.items) fold.add(event)
    const found = fold.spans.find(({ id, end }) => id === spanId && end !== undefined)
    if (found !== undefined || page.nextCursor === null) return found ?? fold.spans.find(({ id }) => id === spanId)
    cursor = page.nextCursor
  }
  return undefined
}
