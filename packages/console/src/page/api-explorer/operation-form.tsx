import { useState } from 'preact/hooks'
import { API_URL, sessionFetch } from '../api/connection.ts'
import { type Failure, failureOf } from '../api/failure.ts'
import { useApp } from '../app-context.ts'
import { FailureNote } from '../parts/basics.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { jsonOrText } from '../parts/json-or-text.ts'
import { JsonView } from '../parts/json-view.tsx'
import { quoted } from '../run/curl.ts'
import { type ApiDocument, bodyExample, type ListedOperation, plainText, requestPath } from './api-document.ts'

interface Answer {
  readonly status: number
  readonly requestId: string | null
  readonly body: unknown
}

const LONGEST_BODY = 200_000

/** Calls an operation with the session of this browser. */
export function OperationForm({
  document,
  operation,
}: {
  readonly document: ApiDocument
  readonly operation: ListedOperation
}) {
  const { session } = useApp()
  const { method, parameters } = operation
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [body, setBody] = useState(() => bodyExample(document, operation))
  const [answer, setAnswer] = useState<Answer | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const shown = parameters.filter((one) => one.in === 'path' || one.in === 'query')
  const send = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setFailure(undefined)
    setAnswer(undefined)
    try {
      const response = await sessionFetch(API_URL + requestPath(operation, values), {
        method,
        headers: { Accept: 'application/json', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
        ...(body === undefined ? {} : { body }),
      })
      setAnswer({
        ...{ status: response.status, requestId: response.headers.get('x-request-id') },
        body: jsonOrText((await response.text()).slice(0, LONGEST_BODY)),
      })
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(false)
  }
  const curl = () =>
    [
      `curl -X ${method} ${quoted(API_URL + safePath(operation, values))}`,
      `-H "Authorization: Bearer $PERDURE_TOKEN"`,
      ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(body)}`]),
    ].join(' \\\n  ')
  return (
    <form class="form" onSubmit={(event) => void send(event)} noValidate>
      {shown.map(({ name, required, description }) => (
        <label key={name} class="stacked">
          <span>
            <code>{name}</code> {required === true ? <span class="quiet">required</span> : null}{' '}
            <span class="quiet">{plainText(description)}</span>
          </span>
          <input
            type="text"
            value={values[name] ?? ''}
            onInput={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
          />
        </label>
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
      <p class="actions">
        {session.readOnly && method !== 'GET' ? null : (
          <button type="submit" class="primary" disabled={isBusy}>
            Send {method}
          </button>
        )}
        <CopyButton text={curl}>Copy as curl</CopyButton>
        <CopyButton text={() => fetchCode(operation, values, body)}>Copy as fetch</CopyButton>
        <CopyButton text={() => commandOf(operation, values, body)}>Copy as command</CopyButton>
      </p>
      {failure === undefined ? null : <FailureNote failure={failure} />}
      {answer === undefined ? null : (
        <section aria-label="Answer" role="status">
          <p>
            <strong>{answer.status}</strong> <span class="quiet">request {answer.requestId}</span>
          </p>
          <JsonView value={answer.body} label="Body of the answer" />
        </section>
      )}
    </form>
  )
}

/** The path as far as it is filled in. */
function safePath(operation: ListedOperation, values: Readonly<Record<string, string>>): string {
  try {
    return requestPath(operation, values)
  } catch {
    return operation.path
  }
}

function fetchCode(
  operation: ListedOperation,
  values: Readonly<Record<string, string>>,
  body: string | undefined,
): string {
  const options = {
    method: operation.method,
    headers: { Authorization: 'Bearer <token>', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body }),
  }
  return `await fetch(${JSON.stringify(API_URL + safePath(operation, values))}, ${JSON.stringify(options, undefined, 2)})`
}

const commandOf = (
  { operationId }: ListedOperation,
  values: Readonly<Record<string, string>>,
  body: string | undefined,
): string =>
  [
    `perdure api ${operationId}`,
    ...Object.entries(values).flatMap(([name, value]) => (value === '' ? [] : ['-f', quoted(`${name}=${value}`)])),
    ...(body === undefined ? [] : [`--input ${quoted(body)}`]),
  ].join(' ')
