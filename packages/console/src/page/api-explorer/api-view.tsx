import { ERRORS } from '@perdure/protocol'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Empty } from '../parts/basics.tsx'
import { type ApiDocument, type ListedOperation, operationsOf } from './api-document.ts'
import { Marked } from './marked.tsx'
import { OperationDetail } from './operation-detail.tsx'
import type { ApiAccess } from './operation-form.tsx'

export interface ApiViewProps {
  readonly document: ApiDocument
  readonly access: ApiAccess
  /** The operation that is open, or an error: `error-agent-busy`. */
  readonly open: string | undefined
  /** The address that opens an operation or an error. */
  readonly hrefOf: (name: string) => string
}

/** Every operation and error of the API, with a search and a form to call each operation. */
export function ApiView({ document, access, open, hrefOf }: ApiViewProps) {
  const [text, setText] = useState('')
  const detail = useRef<HTMLDivElement>(null)
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const operations = operationsOf(document)
  const found = operations.filter((one) => isMatch(searchTextOf(one), words))
  const errors = Object.keys(ERRORS).filter((code) => isMatch(errorText(code as ErrorCode), words))
  const operation = operations.find(({ operationId }) => operationId === open)
  useEffect(() => {
    const heading = detail.current?.querySelector('h2')
    heading?.focus({ preventScroll: true })
    if (innerWidth <= NARROW) heading?.scrollIntoView()
  }, [open])
  const link = (name: string, label: ComponentChildren) => (
    <li key={name}>
      <a href={hrefOf(name)} aria-current={name === open ? 'true' : undefined}>
        {label}
      </a>
    </li>
  )
  return (
    <div class="api">
      <nav aria-label="Operations">
        <input
          type="search"
          aria-label="Search operations"
          placeholder="Search operations"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <output aria-live="polite" class="quiet">
          {words.length === 0 ? '' : `${found.length} of ${operations.length} operations`}
        </output>
        {found.length + errors.length === 0 ? <Empty>No operation matches.</Empty> : null}
        {[...Map.groupBy(found, ({ tags }) => tags?.[0] ?? 'other')].map(([tag, ofTag]) => (
          <section key={tag} aria-label={tag}>
            <h2>{tag}</h2>
            <ul class="plain">
              {ofTag.map(({ operationId, method, path }) =>
                link(
                  operationId,
                  <>
                    <span class="method">{method}</span> {path}
                  </>,
                ),
              )}
            </ul>
          </section>
        ))}
        {errors.length === 0 ? null : (
          <section aria-label="errors">
            <h2>errors</h2>
            <ul class="plain">{errors.map((code) => link(`error-${code}`, code))}</ul>
          </section>
        )}
      </nav>
      <div ref={detail}>
        {operation === undefined ? (
          <ErrorDetail name={open} />
        ) : (
          <OperationDetail key={operation.operationId} {...{ document, operation, access, hrefOf }} />
        )}
      </div>
    </div>
  )
}

const NARROW = 760

type ErrorCode = keyof typeof ERRORS

const errorText = (code: ErrorCode): string => `${code} ${ERRORS[code].status} ${ERRORS[code].summary}`

function searchTextOf({ operationId, method, path, summary, description, responses }: ListedOperation): string {
  const errors = Object.values(responses).flatMap((response) => response['x-perdure-errors'] ?? [])
  return [operationId, method, path, summary, description, ...errors].join(' ')
}

const isMatch = (text: string, words: readonly string[]): boolean =>
  words.every((word) => text.toLowerCase().includes(word))

function ErrorDetail({ name }: { readonly name: string | undefined }) {
  const code = Object.keys(ERRORS).find((one) => name === `error-${one}`)
  if (code === undefined) {
    return (
      <Empty>
        Choose an operation. <code>perdure api &lt;operation&gt;</code> calls the same operations from a terminal.
      </Empty>
    )
  }
  const { status, summary, retryable } = ERRORS[code as ErrorCode]
  return (
    <article aria-label={code}>
      <h2 tabIndex={-1}>
        <strong>{status}</strong> <code>{code}</code>
      </h2>
      <p>
        <Marked text={summary} />
      </p>
      <p class="quiet">{retryable ? 'A repeated request may succeed.' : 'A repeated request gets the same answer.'}</p>
      <p class="quiet">
        An error response is <code>{'{ error, message, hint?, requestId }'}</code>. Branch on <code>error</code>: codes
        are permanent. The wording of <code>message</code> and <code>hint</code> may change.
      </p>
    </article>
  )
}
