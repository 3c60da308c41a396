import { useState } from 'preact/hooks'
import { may, useApp } from '../app-context.ts'
import { type Failure, failureOf } from '../client/failure.ts'
import type { Run } from '../client/resources.ts'
import { FailureNote } from '../parts/basics.tsx'
import { JsonView } from '../parts/json-view.tsx'

/** Why a run failed; the stack only for those who may read raw traces, because it is audited. */
export function RunError({ run }: { readonly run: Run }) {
  const app = useApp()
  const [stack, setStack] = useState<string | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const { error } = run
  if (error === undefined) return null
  const read = async () => {
    try {
      const page = await app.client.runs.replay(run.id, { raw: true, order: 'desc', limit: 5 })
      setStack(stackOf(page.items) ?? 'No stack was stored with this error.')
    } catch (thrown) {
      setFailure(failureOf(thrown))
    }
  }
  return (
    <section class="note bad" aria-label="Error">
      <strong>{error.message}</strong>
      <div class="quiet">
        <code>{error.code}</code>
        {error.step === undefined ? '' : ` in call ${error.step.seq} (${error.step.name})`}
        {run.finishReason === null || run.finishReason === 'error' ? '' : ` · ${run.finishReason}`}
      </div>
      {error.cause?.map(({ name, message }) => (
        <div key={name + message} class="quiet">
          caused by {name}: {message}
        </div>
      ))}
      {stack === undefined && may(app, 'traces:read:raw') ? (
        <button type="button" onClick={() => void read()}>
          Show the stack <span class="quiet">(recorded in the audit log)</span>
        </button>
      ) : null}
      {stack === undefined ? null : <JsonView value={stack} label="Stack of the error" />}
      {failure === undefined ? null : <FailureNote failure={failure} />}
    </section>
  )
}

function stackOf(events: readonly { readonly payload?: unknown }[]): string | undefined {
  for (const { payload } of events) {
    const { error } = (payload ?? {}) as { readonly error?: { readonly stack?: unknown } }
    if (typeof error?.stack === 'string') return error.stack
  }
  return undefined
}
