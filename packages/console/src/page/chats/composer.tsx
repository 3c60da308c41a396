import { useRef, useState } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import { API_URL } from '../client/api-url.ts'
import { type Failure, failureOf } from '../client/failure.ts'
import { FailureNote } from '../parts/basics.tsx'
import { bytesText } from '../parts/bytes.ts'

export interface ComposerProps {
  readonly agentId: string
  /** Whether the agent works on an earlier message; not while that waits for an answer. */
  readonly isBusy: boolean
  /** What a message may do then; the first is the default. */
  readonly choices: readonly string[]
  readonly onSend: (parts: readonly object[], onBusy: string | undefined) => Promise<Failure | undefined>
  /** Aborts the run that works; absent if there is none, or the session may not. */
  readonly onStop: (() => void) | undefined
}

/** What each choice means to the person who writes. */
const CHOICES: Readonly<Record<string, string>> = {
  queue: 'Queue: answer it afterwards',
  steer: 'Steer: give it to the answer at work',
  interrupt: 'Interrupt: end the answer at work',
  reject: 'Reject while it works',
}

/** Writes a message with files. Enter sends it. */
export function Composer({ agentId, isBusy, choices, onSend, onStop }: ComposerProps) {
  const app = useApp()
  const [text, setText] = useState('')
  const [files, setFiles] = useState<readonly File[]>([])
  const [onBusy, setOnBusy] = useState<string | undefined>(undefined)
  const [isSending, setSending] = useState(false)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const picker = useRef<HTMLInputElement>(null)
  const canAttach = mayChange(app, 'files:write')
  const isEmpty = text.trim() === '' && files.length === 0

  const send = async () => {
    if (isEmpty || isSending) return
    setSending(true)
    setFailure(undefined)
    try {
      const stored = await Promise.all(files.map((file) => store(app.client, file)))
      const parts = [...(text.trim() === '' ? [] : [{ type: 'text', text }]), ...stored]
      const refused = await onSend(parts, isBusy ? (onBusy ?? choices[0]) : undefined)
      setFailure(refused)
      // A refused message stays, so that nothing is lost.
      if (refused === undefined) {
        setText('')
        setFiles([])
      }
    } catch (error) {
      setFailure(failureOf(error))
    }
    setSending(false)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    void send()
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {failure === undefined ? null : <FailureNote failure={failure} />}
      {files.length === 0 ? null : (
        <ul class="plain attached" aria-label="Files of the message">
          {files.map((file, at) => (
            <li key={`${file.name} ${at}`}>
              {file.name} <span class="quiet">{bytesText(file.size)}</span>{' '}
              <button
                type="button"
                class="link"
                aria-label={`Remove ${file.name}`}
                onClick={() => setFiles(files.filter((one) => one !== file))}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        rows={2}
        aria-label={`Message to ${agentId}`}
        placeholder={`Message to ${agentId}`}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="actions">
        <button type="submit" class="primary" disabled={isEmpty || isSending}>
          {isSending ? 'Sending…' : 'Send'}
        </button>
        {canAttach ? (
          <>
            <input
              ref={picker}
              type="file"
              class="hidden"
              multiple
              tabIndex={-1}
              aria-label="Files to attach"
              onChange={({ currentTarget }) => {
                setFiles([...files, ...(currentTarget.files ?? [])])
                currentTarget.value = ''
              }}
            />
            <button type="button" onClick={() => picker.current?.click()}>
              Attach
            </button>
          </>
        ) : null}
        {onStop === undefined ? null : (
          <button type="button" class="danger" onClick={onStop}>
            Stop
          </button>
        )}
        {isBusy && choices.length > 1 ? (
          <label class="quiet">
            <span class="hidden">While the agent works</span>
            <select value={onBusy ?? choices[0]} onChange={({ currentTarget }) => setOnBusy(currentTarget.value)}>
              {choices.map((choice) => (
                <option key={choice} value={choice}>
                  {CHOICES[choice] ?? choice}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        {isBusy && choices.length === 1 ? <span class="quiet">{CHOICES[choices[0] ?? '']}</span> : null}
      </div>
    </form>
  )
}

/** Stores a file and gives the part of a message that refers to it. */
async function store(client: ReturnType<typeof useApp>['client'], file: File): Promise<object> {
  const filename = file.name.replaceAll(/[\p{Cc}\p{Cs}\p{Bidi_Control}/\\]/gu, '_').slice(0, 255)
  const { id, mediaType } = await client.files.upload(file, filename === '' ? {} : { filename })
  const url = `${new URL(API_URL).pathname}/files/${id}`
  return { type: 'file', mediaType, url, ...(filename === '' ? {} : { filename }) }
}
