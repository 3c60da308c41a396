import { useState } from 'preact/hooks'
import type { Failure } from '../client/failure.ts'
import { hasProvider, signInWithProvider } from '../client/provider.ts'
import { FailureNote } from '../parts/basics.tsx'

/** A token that a session created. */
export interface CreatedToken {
  readonly id: string
  readonly name: string
  readonly expiresAt?: string | undefined
}

/** Asks for a token or a code. Neither is kept in the page. */
export function SignInPage({
  failure,
  created = [],
  onSignIn,
}: {
  readonly failure: Failure | undefined
  /** Tokens that the session before created and that are still valid. */
  readonly created?: readonly CreatedToken[] | undefined
  readonly onSignIn: (credential: { readonly token: string } | { readonly code: string }) => Promise<void>
}) {
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    const value = text.trim()
    if (value === '') return
    setBusy(true)
    setText('')
    await onSignIn(value.startsWith('perdure_') ? { token: value } : { code: value })
    setBusy(false)
  }
  return (
    <main class="sign-in">
      <form onSubmit={(event) => void submit(event)}>
        <h1>Sign in to Perdure</h1>
        {created.length === 0 ? null : (
          <div role="status">
            <p>You are signed out. Your session created these tokens, which are still valid:</p>
            <ul>
              {created.map(({ id, name, expiresAt }) => (
                <li key={id}>
                  {name} <span class="quiet id">{id}</span>{' '}
                  {expiresAt === undefined ? 'does not expire' : `expires ${expiresAt}`}
                </li>
              ))}
            </ul>
          </div>
        )}
        {hasProvider ? (
          <p class="actions">
            <button type="button" class="primary" onClick={signInWithProvider}>
              Sign in with your organization
            </button>
          </p>
        ) : null}
        <p class="quiet">
          {hasProvider ? 'Or paste' : 'Paste'} an access token, or a single-use code from <code>perdure console</code>.
        </p>
        <label class="stacked">
          Token or code
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        {failure === undefined ? null : <FailureNote failure={failure} />}
        <p class="actions">
          <button type="submit" class={hasProvider ? '' : 'primary'} disabled={isBusy}>
            Sign in
          </button>
        </p>
        <p class="quiet">
          The session lasts at most 12 hours and has the scopes of the token. The page does not store the token.
        </p>
      </form>
    </main>
  )
}
