import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { may, useApp } from '../app-context.ts'
import { type Failure, failureOf } from '../client/failure.ts'
import type { KeptRun, Run } from '../client/resources.ts'
import { FailureNote } from '../parts/basics.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'

type Made = { readonly text: string; readonly notes: KeptRun['notes'] } | { readonly failure: Failure }

/** Turns a run into a case of `perdure eval`, which a person reviews before it is stored. The server makes and audits it. */
export function KeepCase({ run }: { readonly run: Run }) {
  const { client } = useApp()
  const [made, setMade] = useState<Made>()
  const open = async (raw: boolean) => {
    try {
      const { case: kept, notes } = await client.runs.case(run.id, { raw })
      setMade({ text: `${JSON.stringify(kept, undefined, 2)}\n`, notes })
    } catch (thrown) {
      setMade({ failure: failureOf(thrown) })
    }
  }
  return (
    <>
      <button type="button" onClick={() => void open(false)}>
        Keep as a case
      </button>
      {made === undefined ? null : (
        <Dialog title="Keep as a case" onClose={() => setMade(undefined)}>
          {'failure' in made ? (
            <FailureNote failure={made.failure} />
          ) : (
            <Case
              name={`${run.id}.case.json`}
              made={made}
              onText={(text) => setMade({ ...made, text })}
              onRaw={() => void open(true)}
            />
          )}
          <p class="actions">
            <button type="button" onClick={() => setMade(undefined)}>
              Cancel
            </button>
            {'failure' in made ? null : (
              <>
                <CopyButton text={() => made.text}>Copy</CopyButton>
                <button type="button" class="primary" onClick={() => download(`${run.id}.case.json`, made.text)}>
                  Download
                </button>
              </>
            )}
          </p>
        </Dialog>
      )}
    </>
  )
}

interface CaseProps {
  readonly name: string
  readonly made: Extract<Made, { readonly text: string }>
  readonly onText: (text: string) => void
  readonly onRaw: () => void
}

function Case({ name, made: { text, notes }, onText, onRaw }: CaseProps) {
  const app = useApp()
  const box = useRef<HTMLTextAreaElement>(null)
  // The dialog then sets the focus, which scrolls to the caret: without this, to the end.
  useLayoutEffect(() => box.current?.setSelectionRange(0, 0), [])
  const isRedacted = text.includes('[redacted:')
  return (
    <>
      <ol>
        <li>
          Set <code>expected</code> to the right answer, or remove it.
        </li>
        <li>Download the file, and save it in the folder of your eval file.</li>
        <li>
          Add <code>casesFromFiles('{name}')</code> to the cases of an eval whose scorers read <code>expected</code>,
          such as <code>scorers: [similarText()]</code>.
        </li>
      </ol>
      <p class="note warn">
        {notes.length === 0 ? '' : `${notes.join(' ')} `}Not every name, address or secret is recognized: read the case
        before you store it.
      </p>
      <label class="stacked">
        Case (JSON)
        <textarea
          rows={12}
          class="code"
          spellcheck={false}
          value={text}
          ref={box}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      </label>
      {isRedacted && may(app, 'traces:read:raw') ? (
        <p>
          <button type="button" onClick={onRaw}>
            Show the original texts <span class="quiet">(recorded in the audit log)</span>
          </button>
        </p>
      ) : null}
    </>
  )
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
