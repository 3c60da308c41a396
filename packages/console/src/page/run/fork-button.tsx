import { useState } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import { type Failure, failureOf } from '../client/failure.ts'
import type { Run } from '../client/resources.ts'
import { FailureNote } from '../parts/basics.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { goTo, hrefOf } from '../route.ts'
import { mayRepeat } from './run-actions.tsx'

/** Starts a new run that keeps the recorded calls before this one. */
export function ForkButton({ run, seq }: { readonly run: Run; readonly seq: number }) {
  const app = useApp()
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const isActive = run.status === 'queued' || run.status === 'running'
  if (!mayRepeat(app, run) || isActive) return null
  const fork = async () => {
    try {
      const input = text.trim() === '' ? {} : { input: JSON.parse(text) as unknown }
      const { runId } = await app.client.runs.fork(run.id, { from: { seq }, ...input })
      setOpen(false)
      app.notify('Forked as a new run')
      goTo(hrefOf(['runs', runId]))
    } catch (error) {
      setFailure(
        error instanceof SyntaxError
          ? { ...failureOf(error), code: 'invalid-json', hint: undefined }
          : failureOf(error),
      )
    }
  }
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Fork from this call
      </button>
      {isOpen ? (
        <Dialog title={`Fork from call ${seq}`} onClose={() => setOpen(false)}>
          <p>A new run starts with the recorded results of every call before call {seq}. This run stays as it is.</p>
          <p>If a person has decided before call {seq}, the new run asks again unless you may decide.</p>
          {mayChange(app, 'runs:repair') ? (
            <label class="stacked">
              Another input (JSON, optional)
              <textarea rows={4} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
            </label>
          ) : null}
          {failure === undefined ? null : <FailureNote failure={failure} />}
          <p class="actions">
            <button type="button" onClick={() => setOpen(false)}>
              Cancel
            </button>
            <button type="button" class="primary" onClick={() => void fork()}>
              Fork
            </button>
          </p>
        </Dialog>
      ) : null}
    </>
  )
}
