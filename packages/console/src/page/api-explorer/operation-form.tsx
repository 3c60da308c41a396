import { useEffect, useRef, useState } from 'preact/hooks'
import { API_URL } from '../client/api-url.ts'
import { type ApiRequest, curlOf } from '../client/curl.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { exampleOf } from '../start/form-field.ts'
import {
  type ApiDocument,
  type ApiParameter,
  acceptsOf,
  bodyExample,
  indented,
  type ListedOperation,
  resolved,
} from './api-document.ts'
import { checkRequired, commandOf, fetchCode, requestOf } from './api-request.ts'
import { Marked } from './marked.tsx'
import { type Answer, receive } from './receive.ts'

/** How the page calls the API. */
export interface ApiAccess {
  /** Sends a request with the credential of the page. */
  readonly send: typeof fetch
  readonly mayChange: boolean
}

export interface OperationProps {
  readonly document: ApiDocument
  readonly operation: ListedOperation
  readonly access: ApiAccess
}

/** A form that calls an operation and shows the answer as it arrives. */
export function OperationForm({ document, operation, access }: OperationProps) {
  const { method, operationId, parameters } = operation
  const accepts = acceptsOf(operation)
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [body, setBody] = useState(() => bodyExample(document, operation))
  const [accept, setAccept] = useState(accepts[0] ?? 'application/json')
  const [answer, setAnswer] = useState<Answer | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const stop = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => stop.current?.abort(), [])
  const request = (): ApiRequest => requestOf(operation, { values, body, accept }, API_URL)

  const send = async (event: Event) => {
    event.preventDefault()
    const stopping = new AbortController()
    const { signal } = stopping
    stop.current = stopping
    setBusy(true)
    setProblem(undefined)
    setAnswer(undefined)
    try {
      checkRequired(operation, values)
      const { url, ...init } = request()
      const startedAt = performance.now()
      const response = await access.send(url, { ...init, signal, cache: 'no-store', redirect: 'error' })
      await receive(response, Math.round(performance.now() - startedAt), setAnswer)
    } catch (error) {
      setProblem(signal.aborted ? 'Stopped.' : String(error))
    }
    setBusy(false)
  }

  /** Once the agent or workflow is named, replaces an unchanged body with an example of its input. */
  const fillBody = async (parameter: ApiParameter, id: string) => {
    const [, group] = parameter.in === 'path' ? (STARTS.exec(operation.path) ?? []) : []
    if (group === undefined || id === '') return
    const response = await access.send(`${API_URL}/${group}/${encodeURIComponent(id)}`).catch(() => undefined)
    const { inputSchema } = response?.ok === true ? await response.json() : {}
    if (inputSchema === undefined) return
    const example = indented({ input: exampleOf(inputSchema) })
    setBody((before) => (before === body ? example : before))
  }

  return (
    <form class="form" aria-label={`Try ${operationId}`} onSubmit={(event) => void send(event)} noValidate>
      {parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          {...{ document, parameter }}
          value={values[parameter.name] ?? ''}
          onInput={(value) => setValues({ ...values, [parameter.name]: value })}
          onChange={(value) => void fillBody(parameter, value)}
        />
      ))}
      {body === undefined ? null : (
        <label class="stacked">
          Body (JSON)
          <textarea
            class="code"
            rows={8}
            spellcheck={false}
            value={body}
            onInput={({ currentTarget }) => setBody(currentTarget.value)}
          />
        </label>
      )}
      {accepts.length < 2 ? null : (
        <label class="stacked">
          Accept
          <select value={accept} onChange={({ currentTarget }) => setAccept(currentTarget.value)}>
            {accepts.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        </label>
      )}
      <p class="actions">
        {!access.mayChange && method !== 'GET' ? null : (
          <button type="submit" class="primary" disabled={isBusy}>
            Send {method}
          </button>
        )}
        {isBusy ? (
          <button type="button" onClick={() => stop.current?.abort()}>
            Stop
          </button>
        ) : null}
        <CopyButton text={() => curlOf(request())}>Copy as curl</CopyButton>
        <CopyButton text={() => fetchCode(request())}>Copy as fetch</CopyButton>
        <CopyButton text={() => commandOf(operationId, { values, body })}>Copy as command</CopyButton>
      </p>
      {problem === undefined ? null : (
        <p class="note bad" role="alert">
          {problem}
        </p>
      )}
      {answer === undefined ? null : <AnswerView answer={answer} />}
    </form>
  )
}

/** The operations that start a run of the agent or workflow in their path. */
const STARTS = /^\/(agents|workflows)\/\{\w+\}\/(?:run|stream|execute)$/

interface ParameterFieldProps {
  readonly document: ApiDocument
  readonly parameter: ApiParameter
  readonly value: string
  readonly onInput: (value: string) => void
  readonly onChange: (value: string) => void
}

function ParameterField({ document, parameter, value, onInput, onChange }: ParameterFieldProps) {
  const { name, in: place, required, description, schema = {} } = parameter
  const { enum: choices } = resolved(document, schema).schema
  const field = `parameter-${name}`
  return (
    <div class="stacked">
      <label for={field}>
        <code>{name}</code>{' '}
        <span class="quiet">
          {place === 'header' ? 'header ' : ''}
          {required === true ? 'required ' : ''}
          <Marked text={description} />
        </span>
      </label>
      {choices === undefined ? (
        <input
          id={field}
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      ) : (
        <select id={field} value={value} onChange={({ currentTarget }) => onInput(currentTarget.value)}>
          {['', ...choices.map(String)].map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )}
    </div>
  )
}

function AnswerView({ answer }: { readonly answer: Answer }) {
  const { status, isOk, tookMs, requestId, headers, text, isCut } = answer
  return (
    <section aria-label="Answer" role="status">
      <p>
        <strong class={isOk ? '' : 'bad-text'}>{status}</strong> in {tookMs} ms{' '}
        <span class="quiet">request {requestId}</span>
      </p>
      <details>
        <summary>Headers</summary>
        <pre>{headers}</pre>
      </details>
      <JsonView value={text} label="Body of the answer" />
      {isCut ? <p class="quiet">Only the beginning is shown.</p> : null}
    </section>
  )
}
