import { useState } from 'preact/hooks'
import { may, mayChange, useApp } from '../app-context.ts'
import { Card, Empty, Heading, Shown, Status } from '../parts/basics.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Ago } from '../parts/time.tsx'
import { useAction } from '../parts/use-action.ts'
import { useLoaded } from '../parts/use-loaded.ts'

/** What agents have learned, and where they may look things up. */
export function MemoryPage() {
  const app = useApp()
  return (
    <>
      <Heading title="Memory" />
      {may(app, 'memory:read') ? <Facts /> : null}
      {may(app, 'memory:read') ? <Blocks /> : null}
      {may(app, 'skills:read') ? <Skills /> : null}
      {may(app, 'mcp:read') ? <McpServers /> : null}
    </>
  )
}

interface Found {
  readonly id: string
  readonly text: string
  readonly namespace: string
  readonly importance: number
  readonly updatedAt: string
  readonly score?: number
}

function Facts() {
  const app = useApp()
  const { client } = app
  const [query, setQuery] = useState('')
  const [wanted, setWanted] = useState('')
  const { act } = useAction()
  const loaded = useLoaded(async (): Promise<readonly Found[]> => {
    if (wanted === '') return (await client.memory.listFacts({ limit: 50 })).items
    const { items } = await client.memory.search({ query: wanted, limit: 50 })
    return items.map(({ fact, score }) => ({ ...fact, score }))
  }, [wanted])
  const forget = (id: string) =>
    act('Forgotten', async () => {
      await client.memory.deleteFact(id)
      loaded.reload()
    })
  return (
    <Card title="Facts">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          setWanted(query.trim())
        }}
      >
        <input
          type="search"
          aria-label="Search facts"
          placeholder="Search facts"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
        <button type="submit">Search</button>
      </form>
      <Shown loaded={loaded}>
        {(facts) => (
          <DataTable
            rows={facts}
            keyOf={({ id }) => id}
            caption={wanted === '' ? 'Facts, newest first' : `Facts that match ${wanted}, best first`}
            empty={wanted === '' ? 'No fact is stored.' : 'No fact matches.'}
            columns={[
              { head: 'Fact', cell: ({ text }) => text },
              { head: 'Namespace', cell: ({ namespace }) => namespace },
              ...(wanted === ''
                ? []
                : [{ head: 'Score', cell: ({ score }: Found) => score?.toFixed(3), isNumber: true as const }]),
              { head: 'Importance', cell: ({ importance }) => importance.toFixed(2), isNumber: true },
              { head: 'Changed', cell: ({ updatedAt }) => <Ago at={updatedAt} />, isNumber: true },
              ...(mayChange(app, 'memory:write')
                ? [
                    {
                      head: 'Delete',
                      cell: ({ id, text }: Found) => (
                        <button
                          type="button"
                          class="link"
                          aria-label={`Forget ${text.slice(0, 40)}`}
                          onClick={() => void forget(id)}
                        >
                          Forget
                        </button>
                      ),
                      isNumber: true as const,
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Shown>
    </Card>
  )
}

function Blocks() {
  const { client } = useApp()
  const loaded = useLoaded(() => client.memory.listBlocks({}), [])
  return (
    <Card title="Blocks">
      <Shown loaded={loaded}>
        {({ items }) => (
          <DataTable
            rows={items}
            keyOf={({ namespace, label, owner }) => `${namespace}/${label}/${owner}`}
            caption="Blocks"
            empty="There are no blocks."
            columns={[
              { head: 'Label', cell: ({ label }) => label },
              { head: 'Value', cell: ({ value }) => value },
              { head: 'Used', cell: ({ value, limit }) => `${value.length} of ${limit}`, isNumber: true },
            ]}
          />
        )}
      </Shown>
    </Card>
  )
}

function Skills() {
  const { client } = useApp()
  const loaded = useLoaded(() => client.skills.list({ limit: 200 }), [])
  return (
    <Card title="Skills">
      <Shown loaded={loaded}>
        {({ items }) => (
          <DataTable
            rows={items}
            keyOf={({ name }) => name}
            caption="Skills"
            empty="No skill is installed."
            columns={[
              { head: 'Skill', cell: ({ name }) => name },
              { head: 'Description', cell: ({ description, reason }) => reason ?? description },
              { head: 'Status', cell: ({ status }) => <Status value={status} /> },
            ]}
          />
        )}
      </Shown>
    </Card>
  )
}

function McpServers() {
  const { client } = useApp()
  const loaded = useLoaded(() => client.mcp.list({ limit: 200 }), [])
  return (
    <Card title="MCP servers">
      <Shown loaded={loaded}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>No MCP server is configured.</Empty>
          ) : (
            <DataTable
              rows={items}
              keyOf={({ id }) => id}
              caption="MCP servers"
              empty=""
              columns={[
                { head: 'Server', cell: ({ id }) => id },
                { head: 'Transport', cell: ({ transport }) => transport },
                { head: 'Address', cell: ({ url }) => url },
                { head: 'Status', cell: ({ status }) => <Status value={status} /> },
                { head: 'Tools', cell: ({ id }) => <Tools serverId={id} /> },
              ]}
            />
          )
        }
      </Shown>
    </Card>
  )
}

/** The tools of a server, which is asked only when the list is opened. */
function Tools({ serverId }: { readonly serverId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary aria-label={`Tools of ${serverId}`}>Show</summary>
      {isOpen ? <ToolList serverId={serverId} /> : null}
    </details>
  )
}

function ToolList({ serverId }: { readonly serverId: string }) {
  const { client } = useApp()
  const loaded = useLoaded(() => client.mcp.tools(serverId), [serverId])
  return (
    <Shown loaded={loaded}>
      {({ items }) => (
        <ul class="plain">
          {items.map(({ name, description }) => (
            <li key={name}>
              <code>{name}</code> <span class="quiet">{description}</span>
            </li>
          ))}
        </ul>
      )}
    </Shown>
  )
}
