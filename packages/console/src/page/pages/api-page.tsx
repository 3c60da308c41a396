import { useState } from 'preact/hooks'
import { API_URL, sessionFetch } from '../api/connection.ts'
import { type ApiDocument, type ListedOperation, operationsOf, plainText } from '../api-explorer/api-document.ts'
import { OperationForm } from '../api-explorer/operation-form.tsx'
import { SchemaTree } from '../api-explorer/schema-tree.tsx'
import { useApp } from '../app-context.ts'
import { Card, Empty, Heading, Shown } from '../parts/basics.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { hrefOf } from '../route.ts'

async function readDocument(): Promise<ApiDocument> {
  const response = await sessionFetch(`${API_URL}/openapi.json`)
  if (!response.ok) throw new Error('The server does not serve its API document: docs.enabled is false.')
  return (await response.json()) as ApiDocument
}

/** Every operation of the API, with a form to call it. */
export function ApiPage() {
  const { route } = useApp()
  const [text, setText] = useState('')
  const loaded = useLoaded(readDocument, [])
  return (
    <>
      <Heading title="API">
        <a class="button" href={`${API_URL}/openapi.json`}>
          openapi.json
        </a>
        <a class="button" href={`${API_URL}/asyncapi.json`}>
          asyncapi.json
        </a>
      </Heading>
      <Shown loaded={loaded}>
        {(document) => {
          const operations = operationsOf(document)
          const open = operations.find(({ operationId }) => operationId === route.query.op)
          const found = operations.filter((one) => isMatch(one, text))
          return (
            <div class="api">
              <nav aria-label="Operations">
                <input
                  type="search"
                  aria-label="Search operations"
                  placeholder="Search operations"
                  value={text}
                  onInput={({ currentTarget }) => setText(currentTarget.value.trim().toLowerCase())}
                />
                {found.length === 0 ? <Empty>No operation matches.</Empty> : null}
                {[...Map.groupBy(found, ({ tags }) => tags?.[0] ?? 'other')].map(([tag, ofTag]) => (
                  <section key={tag}>
                    <h2>{tag}</h2>
                    <ul class="plain">
                      {ofTag.map((one) => (
                        <li key={one.operationId}>
                          <a
                            href={hrefOf(['api'], { op: one.operationId })}
                            aria-current={one === open ? 'true' : undefined}
                          >
                            <span class="method">{one.method}</span> {one.path}
                          </a>
                        </li>
                      ))}
                    </ul>
                  </section>
                ))}
              </nav>
              {open === undefined ? (
                <Empty>
                  Choose an operation. A request from this page has the rights of your session;{' '}
                  <code>perdure api &lt;operation&gt;</code> calls the same operations from a terminal.
                </Empty>
              ) : (
                <OperationDetail key={open.operationId} document={document} operation={open} />
              )}
            </div>
          )
        }}
      </Shown>
    </>
  )
}

const isMatch = ({ operationId, path, summary = '' }: ListedOperation, text: string): boolean =>
  `${operationId} ${path} ${summary}`.toLowerCase().includes(text)

function OperationDetail({
  document,
  operation,
}: {
  readonly document: ApiDocument
  readonly operation: ListedOperation
}) {
  const { method, path, operationId, summary, description, requestBody, responses } = operation
  const bodySchema = requestBody?.content?.['application/json']?.schema
  return (
    <article aria-label={operationId}>
      <h2>
        <span class="method">{method}</span> <code>{path}</code>
      </h2>
      <p>{summary}</p>
      {description === undefined || description === summary ? null : <p class="quiet">{plainText(description)}</p>}
      <Card title="Try it">
        <OperationForm document={document} operation={operation} />
      </Card>
      {bodySchema === undefined ? null : (
        <Card title="Body">
          <SchemaTree document={document} schema={bodySchema} />
        </Card>
      )}
      <Card title="Answers">
        {Object.entries(responses).map(([status, response]) => (
          <details key={status}>
            <summary>
              <strong>{status}</strong> {plainText(response.description)}
            </summary>
            {response.content?.['application/json']?.schema === undefined ? null : (
              <SchemaTree document={document} schema={response.content['application/json'].schema} />
            )}
          </details>
        ))}
      </Card>
    </article>
  )
}
