import { useState } from 'preact/hooks'
import { may, useApp } from '../app-context.ts'
import { API_URL } from '../client/api-url.ts'
import type { Health } from '../client/resources.ts'
import { Card, Facts, Heading, Shown, Status } from '../parts/basics.tsx'
import { bytesText } from '../parts/bytes.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Ago, durationText } from '../parts/time.tsx'
import { useLoaded } from '../parts/use-loaded.ts'

/** The server itself. */
export function SystemPage() {
  const app = useApp()
  const { client } = app
  const loaded = useLoaded(() => client.health.get() as Promise<Health>, [])
  return (
    <>
      <Heading title="System">
        <button type="button" onClick={loaded.reload}>
          Read again
        </button>
      </Heading>
      <Shown loaded={loaded}>
        {(health) => (
          <>
            <Facts
              rows={[
                ['Status', <Status key="status" value={health.status} />],
                ['Version', health.version],
                ['Up for', durationText(health.uptimeSeconds * 1_000)],
                ['API', <code key="api">{API_URL}</code>],
              ]}
            />
            <Checks health={health} />
          </>
        )}
      </Shown>
      {may(app, 'secrets:read') ? <Secrets /> : null}
      {may(app, 'consolidator:read') ? <ConsolidatorState /> : null}
      {may(app, 'config:read') ? <ServerDetails /> : null}
      <p class="quiet">
        On the machine of the server, <code>perdure doctor</code> checks the installation.
      </p>
    </>
  )
}

function Checks({ health }: { readonly health: Health }) {
  return (
    <Card title="Checks">
      <DataTable
        rows={Object.entries(health.checks)}
        keyOf={([name]) => name}
        caption="Health checks"
        empty=""
        columns={[
          { head: 'Check', cell: ([name]) => wordsOf(name) },
          { head: 'Status', cell: ([, { status }]) => <Status value={status} /> },
          {
            head: 'Details',
            cell: ([, { status: _, ...details }]) =>
              Object.entries(details)
                .map(([name, value]) => `${wordsOf(name.replace(/Bytes$/, ''))} ${detailText(name, value)}`)
                .join(' · '),
          },
        ]}
      />
    </Card>
  )
}

/** The words of a name of the API, such as `queue depth`. */
const wordsOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

function detailText(name: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'number' && /bytes/i.test(name) ? bytesText(value) : String(value)
}

/** The storage, the servers that share it, and the configuration. */
function ServerDetails() {
  const { client } = useApp()
  const loaded = useLoaded(() => client.console.system(), [])
  return (
    <Shown loaded={loaded}>
      {({ storage, nodes, configuration }) => (
        <>
          <Card title="Storage">
            <Facts
              rows={[
                ['Kind', storage.kind],
                ['Writable', storage.writable ? 'yes' : 'no'],
                ['Database', bytesText(storage.dbBytes)],
                ['Write-ahead log', bytesText(storage.walBytes)],
                ['Free on disk', storage.freeBytes === undefined ? undefined : bytesText(storage.freeBytes)],
              ]}
            />
          </Card>
          <Card title="Servers">
            <DataTable
              rows={nodes}
              keyOf={({ id }) => id}
              caption="Servers that share the storage, oldest first"
              empty="This server has the storage for itself."
              columns={[
                { head: 'Server', cell: ({ id, isThis }) => (isThis ? `${id} (this one)` : id) },
                { head: 'Name', cell: ({ name }) => name },
                { head: 'Joined', cell: ({ startedAt }) => <Ago at={startedAt} />, isNumber: true },
              ]}
            />
          </Card>
          <Configuration fields={configuration} />
        </>
      )}
    </Shown>
  )
}

interface Field {
  readonly path: string
  readonly value?: unknown
  readonly origin: string
}

function Configuration({ fields }: { readonly fields: readonly Field[] }) {
  const [text, setText] = useState('')
  const [areAll, setAll] = useState(false)
  const shown = fields.filter(
    ({ path, origin }) => (areAll || text !== '' || origin !== 'default') && path.toLowerCase().includes(text),
  )
  return (
    <Card title="Configuration">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Field contains
          <input
            type="search"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value.trim().toLowerCase())}
          />
        </label>
        <label>
          <input type="checkbox" checked={areAll} onChange={({ currentTarget }) => setAll(currentTarget.checked)} />
          Show defaults
        </label>
      </form>
      <DataTable
        rows={shown}
        keyOf={({ path }) => path}
        caption="Fields of the configuration, secrets masked"
        empty={text === '' ? 'Every field has its default.' : 'No field matches.'}
        columns={[
          { head: 'Field', cell: ({ path }) => <code>{path}</code> },
          { head: 'Value', cell: ({ value }) => (value === undefined ? '–' : <code>{valueText(value)}</code>) },
          { head: 'Set in', cell: ({ origin }) => origin },
        ]}
      />
    </Card>
  )
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function Secrets() {
  const { client } = useApp()
  const loaded = useLoaded(() => client.health.secrets(), [])
  return (
    <Card title="Secrets">
      <Shown loaded={loaded}>
        {({ active, downgradedFrom, downgradeReason, references }) => (
          <>
            <Facts
              rows={[
                ['Store', active],
                ['Instead of', downgradedFrom],
                ['Reason', downgradeReason],
              ]}
            />
            <DataTable
              rows={references}
              keyOf={({ field }) => field}
              caption="Secret references, without their values"
              empty="No secret is configured."
              columns={[
                { head: 'Field', cell: ({ field }) => <code>{field}</code> },
                { head: 'Scheme', cell: ({ scheme }) => scheme },
                { head: 'Resolved', cell: ({ resolved }) => <Status value={resolved ? 'ok' : 'fail'} /> },
              ]}
            />
          </>
        )}
      </Shown>
    </Card>
  )
}

function ConsolidatorState() {
  const { client } = useApp()
  const loaded = useLoaded(() => client.consolidator.get(), [])
  return (
    <Card title="Consolidator">
      <Shown loaded={loaded}>
        {({ running, queueDepth, deadLetters }) => (
          <Facts
            rows={[
              ['Running', running ? 'yes' : 'no'],
              ['Queued', queueDepth.extract + queueDepth.merge + queueDepth.decay],
              ['Dead letters', deadLetters],
            ]}
          />
        )}
      </Shown>
    </Card>
  )
}
