import { useState } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import { API_URL } from '../client/api-url.ts'
import { startCurlOf } from '../client/curl.ts'
import { failureOf } from '../client/failure.ts'
import { type Run, targetOf } from '../client/resources.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { goTo, hrefOf } from '../route.ts'

/** Whether the session may start and end runs of this target. */
export function mayRepeat(app: ReturnType<typeof useApp>, run: Run): boolean {
  return mayChange(app, targetOf(run).kind === 'agent' ? 'agents:invoke' : 'workflows:execute')
}

export function RunActions({ run, onChanged }: { readonly run: Run; readonly onChanged: () => void }) {
  const app = useApp()
  const { client, notify } = app
  const [isBusy, setBusy] = useState(false)
  const isEnded = run.completedAt !== undefined
  const act = async (work: () => Promise<void>) => {
    setBusy(true)
    try {
      await work()
    } catch (error) {
      const { message, hint } = failureOf(error)
      notify(hint === undefined ? message : `${message}: ${hint}`, 'failed')
    }
    setBusy(false)
  }
  const repeat = (name: 'retry' | 'rerun') =>
    act(async () => {
      const { runId } = await client.runs[name](run.id, {})
      notify(name === 'retry' ? 'Retried as a new run' : 'Started again as a new run')
      goTo(hrefOf(['runs', runId]))
    })
  const abort = () =>
    act(async () => {
      await client.runs.abort(run.id, { reason: 'aborted in the console' })
      onChanged()
    })
  const resume = () =>
    act(async () => {
      await client.runs.resume(run.id, {})
      onChanged()
    })
  return (
    <>
      {mayRepeat(app, run) ? (
        <>
          {isEnded && run.status !== 'completed' ? (
            <button type="button" class="primary" disabled={isBusy} onClick={() => void repeat('retry')}>
              Retry
            </button>
          ) : null}
          {isEnded ? (
            <button type="button" disabled={isBusy} onClick={() => void repeat('rerun')}>
              Run again
            </button>
          ) : null}
          {run.status === 'suspended' ? (
            <button type="button" disabled={isBusy} onClick={() => void resume()}>
              Resume
            </button>
          ) : null}
          {isEnded ? null : (
            <button type="button" class="danger" disabled={isBusy} onClick={() => void abort()}>
              Abort
            </button>
          )}
        </>
      ) : null}
      <CopyButton text={() => startCurlOf(run, API_URL)}>Copy as curl</CopyButton>
    </>
  )
}
