import { useState } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import { API_URL } from '../client/api-url.ts'
import { startCurlOf } from '../client/curl.ts'
import { type Failure, failureOf } from '../client/failure.ts'
import { Empty, FailureNote, Heading, Shown } from '../parts/basics.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { goTo, hrefOf } from '../route.ts'
import { exampleOf, fieldsOf, initialText, inputOf, type JsonSchema } from '../start/form-field.ts'
import { SchemaForm } from '../start/schema-form.tsx'

/** Starts an agent or a workflow. */
export function StartPage({ kind, id }: { readonly kind: string | undefined; readonly id: string | undefined }) {
  const app = useApp()
  const { targets } = app
  const startable = targets.filter((one) =>
    mayChange(app, one.kind === 'agent' ? 'agents:invoke' : 'workflows:execute'),
  )
  const target = startable.find((one) => one.kind === kind && one.id === id) ?? startable[0]
  if (target === undefined) {
    return (
      <>
        <Heading title="Start a run" />
        <Empty>No agent or workflow is registered that this session may start.</Empty>
      </>
    )
  }
  return (
    <>
      <Heading title="Start a run" />
      <label class="stacked">
        Agent or workflow
        <select
          value={`${target.kind}:${target.id}`}
          onChange={({ currentTarget }) => goTo(hrefOf(['start', ...currentTarget.value.split(':')]))}
        >
          {startable.map((one) => (
            <option key={`${one.kind}:${one.id}`} value={`${one.kind}:${one.id}`}>
              {one.id}
            </option>
          ))}
        </select>
      </label>
      <p class="quiet">{target.description}</p>
      <StartForm key={`${target.kind}:${target.id}`} kind={target.kind} id={target.id} />
    </>
  )
}

function StartForm({ kind, id }: { readonly kind: 'agent' | 'workflow'; readonly id: string }) {
  const { client } = useApp()
  const loaded = useLoaded(() => (kind === 'agent' ? client.agents.get(id) : client.workflows.get(id)), [kind, id])
  return (
    <Shown loaded={loaded}>
      {({ inputSchema }) => <LoadedForm kind={kind} id={id} schema={inputSchema as JsonSchema | undefined} />}
    </Shown>
  )
}

interface LoadedFormProps {
  readonly kind: 'agent' | 'workflow'
  readonly id: string
  readonly schema: JsonSchema | undefined
}

function LoadedForm({ kind, id, schema }: LoadedFormProps) {
  const { client, notify } = useApp()
  const fields = fieldsOf(schema)
  const [isJson, setJson] = useState(fields === undefined)
  const [texts, setTexts] = useState(() =>
    Object.fromEntries((fields ?? []).map((field) => [field.name, initialText(field)])),
  )
  const [json, setJsonText] = useState(() => JSON.stringify(exampleOf(schema), undefined, 2))
  const [sessionId, setSessionId] = useState('')
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)

  const input = (): unknown => (isJson || fields === undefined ? parseJson(json) : inputOf(fields, texts))
  const start = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setFailure(undefined)
    try {
      const body = { input: input(), ...(sessionId === '' ? {} : { sessionId }) }
      const { runId } =
        kind === 'agent' ? await client.agents.start(id, body) : await client.workflows.execute(id, body)
      goTo(hrefOf(['runs', runId]))
      notify(`Started ${id}`)
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(false)
  }
  const curlText = () => {
    try {
      return startCurlOf({ ...(kind === 'agent' ? { agentId: id } : { workflowId: id }), input: input() }, API_URL)
    } catch (error) {
      return failureOf(error).message
    }
  }
  return (
    <form class="form" onSubmit={(event) => void start(event)} noValidate>
      {fields === undefined || isJson ? (
        <label class="stacked">
          Input (JSON)
          <textarea
            class="code"
            rows={10}
            value={json}
            spellcheck={false}
            onInput={({ currentTarget }) => setJsonText(currentTarget.value)}
          />
        </label>
      ) : (
        <SchemaForm fields={fields} texts={texts} onChange={(name, text) => setTexts({ ...texts, [name]: text })} />
      )}
      <label class="stacked">
        Session (optional)
        <input
          type="text"
          value={sessionId}
          onInput={({ currentTarget }) => setSessionId(currentTarget.value.trim())}
        />
      </label>
      {failure === undefined ? null : <FailureNote failure={failure} />}
      <p class="actions">
        <button type="submit" class="primary" disabled={isBusy}>
          Start {id}
        </button>
        {fields === undefined ? null : (
          <button type="button" onClick={() => setJson(!isJson)}>
            {isJson ? 'Edit as a form' : 'Edit as JSON'}
          </button>
        )}
        <CopyButton text={curlText}>Copy as curl</CopyButton>
      </p>
    </form>
  )
}

function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`The input is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
