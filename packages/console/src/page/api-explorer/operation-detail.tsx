import { ERRORS } from '@perdure/protocol'
import { Card } from '../parts/basics.tsx'
import { type ApiDocument, indented, type ListedOperation } from './api-document.ts'
import { Marked } from './marked.tsx'
import { OperationForm, type OperationProps } from './operation-form.tsx'
import { SchemaTree } from './schema-tree.tsx'

/** An operation: a form to call it, its body, its answers and its errors. */
export function OperationDetail({ hrefOf, ...props }: OperationProps & { readonly hrefOf: (name: string) => string }) {
  const { document, operation } = props
  const { method, path, operationId, summary, description, requestBody, responses } = operation
  const bodySchema = requestBody?.content?.['application/json']?.schema
  const answers = Object.entries(responses)
  const isWebSocket = responses[101] !== undefined
  return (
    <article aria-label={operationId}>
      <h2 tabIndex={-1}>
        <span class="method">{method}</span> <code>{path}</code>
      </h2>
      <p>
        {summary} {operation['x-perdure-refused'] === true ? <em>Not implemented: always 501.</em> : null}
      </p>
      {description === undefined || description === summary ? null : (
        <p class="quiet">
          <Marked text={description} /> <code>{operationId}</code>
        </p>
      )}
      {isWebSocket ? null : (
        <Card title="Try it">
          <OperationForm {...props} />
        </Card>
      )}
      {bodySchema === undefined ? null : (
        <Card title="Body">
          <SchemaTree document={document} schema={bodySchema} />
        </Card>
      )}
      <Card title="Answers">
        {answers.map(([status, { 'x-perdure-errors': errors, description: text, content = {} }]) => (
          <details key={status}>
            <summary>
              <strong>{status}</strong> {errors === undefined ? <Marked text={text} /> : errors.join(', ')}
            </summary>
            {errors === undefined ? (
              <Contents {...{ document, content }} />
            ) : (
              <ul class="plain">
                {errors.map((code) => (
                  <li key={code}>
                    <a href={hrefOf(`error-${code}`)}>
                      <code>{code}</code>
                    </a>{' '}
                    <Marked text={ERRORS[code as keyof typeof ERRORS]?.summary} />
                  </li>
                ))}
              </ul>
            )}
          </details>
        ))}
      </Card>
    </article>
  )
}

type Content = NonNullable<ListedOperation['responses'][string]['content']>

function Contents({ document, content }: { readonly document: ApiDocument; readonly content: Content }) {
  return (
    <>
      {Object.entries(content).map(([type, { schema, example }]) => (
        <div key={type}>
          {type === 'application/json' ? null : <code>{type}</code>}
          {schema === undefined ? null : <SchemaTree document={document} schema={schema} />}
          {example === undefined ? null : <pre>{indented(example)}</pre>}
        </div>
      ))}
    </>
  )
}
