import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiDocument } from './api-explorer/api-document.ts'
import { ApiView } from './api-explorer/api-view.tsx'
import { API_URL } from './client/api-url.ts'
import { createStore } from './client/store.ts'
import { useStore } from './client/use-store.ts'
import { Shown } from './parts/basics.tsx'
import { useLoaded } from './parts/use-loaded.ts'

const NO_COOKIES = { credentials: 'omit', redirect: 'error' } as const

async function readDocument(): Promise<ApiDocument> {
  const response = await fetch(`${API_URL}/openapi.json`, NO_COOKIES)
  if (!response.ok) throw new Error(`The server answered ${response.status} for openapi.json.`)
  const read: ApiDocument = await response.json()
  document.title = `${read.info.title} ${read.info.version}: operations`
  return read
}

/** What the fragment of the address names: `#runs.abort`, `#error-agent-busy`. */
const named = createStore(fragment())
addEventListener('hashchange', () => named.set(fragment()))

function fragment(): string {
  try {
    return decodeURIComponent(location.hash.slice(1))
  } catch {
    return ''
  }
}

const isTyping = ({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  ctrlKey || metaKey || altKey || (target instanceof HTMLElement && target.matches('input, textarea, select'))

/** The API without a session: requests carry the token of the field, which the page keeps nowhere, and no cookie. */
function DocsPage() {
  const open = useStore(named)
  const loaded = useLoaded(readDocument, [])
  const [token, setToken] = useState('')
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    const focusSearch = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event)) return
      event.preventDefault()
      main.current?.querySelector<HTMLInputElement>('input[type=search]')?.focus()
    }
    addEventListener('keydown', focusSearch)
    return () => removeEventListener('keydown', focusSearch)
  }, [])
  const send: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers)
    if (token.trim() !== '') headers.set('Authorization', `Bearer ${token.trim()}`)
    return fetch(url, { ...init, headers, ...NO_COOKIES })
  }
  const info = loaded.data?.info
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the operations
      </button>
      <header class="docs">
        <h1>
          {info?.title ?? 'API'} <small class="quiet">{info?.version}</small>
        </h1>
        <p>
          {info?.summary} Paths are relative to <code>{new URL(API_URL).pathname}</code>. Machine-readable:{' '}
          <a href={`${API_URL}/openapi.json`}>OpenAPI</a>, <a href={`${API_URL}/asyncapi.json`}>AsyncAPI</a>.
        </p>
        <label>
          Token{' '}
          <input
            id="token"
            type="password"
            autocomplete="off"
            spellcheck={false}
            placeholder="kept in this page only"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
      </header>
      <main ref={main} tabIndex={-1}>
        <Shown loaded={loaded}>
          {(read) => <ApiView document={read} access={{ send, mayChange: true }} {...{ open, hrefOf: fragmentOf }} />}
        </Shown>
      </main>
    </>
  )
}

const fragmentOf = (name: string): string => `#${encodeURIComponent(name)}`

const root = document.querySelector('#docs')
if (root !== null) render(<DocsPage />, root)
