import { useState } from 'preact/hooks'
import type { Run } from '../api/resources.ts'
import { useApp } from '../app-context.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { caseOfRun } from './case-of-run.ts'
import type { RunLog } from './run-feed.ts'

/** Turns an ended run into a case of `perdure eval`, which a person reviews before it is stored. */
export function KeepCase({ run, log }: { readonly run: Run; readonly log: Pick<RunLog, 'events'> }) {
  const { session } = useApp()
  const [text, setText] = useState<string>()
  if (run.completedAt === undefined) return null
  const open = () => setText(`${JSON.stringify(caseOfRun(run, log.events), undefined, 2)}\n`)
  const name = `${run.id}.case.json`
  return (
    <>
      <button type="button" onClick={open}>
        Keep as a case
      </button>
      {text === undefined ? null : (
        <Dialog title="Keep as a case" onClose={() => setText(undefined)}>
          <p>
            Save the case beside your evals, and add <code>casesFromFiles('{name}')</code> to the cases of{' '}
            <code>defineEval</code>. Correct <code>expected</code> if the answer was wrong.
          </p>
          {run.owner === session.subject ? null : (
            <p class="note warn">The run belongs to {run.owner}. Remove personal data before you store the case.</p>
          )}
          <label class="stacked">
            Case (JSON)
            <textarea
              rows={12}
              class="code"
              spellcheck={false}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </label>
          <p class="actions">
            <button type="button" onClick={() => setText(undefined)}>
              Cancel
            </button>
            <CopyButton text={() => text}>Copy</CopyButton>
            <button type="button" class="primary" onClick={() => download(name, text)}>
              Download
            </button>
          </p>
        </Dialog>
      )}
    </>
  )
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
