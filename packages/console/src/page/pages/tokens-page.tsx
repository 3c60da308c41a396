import { SCOPES } from '@perdure/protocol'
import { useState } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import { type Failure, failureOf } from '../client/failure.ts'
import { FailureNote, Heading } from '../parts/basics.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Paged, usePages } from '../parts/paged.tsx'
import { Ago } from '../parts/time.tsx'
import { useAction } from '../parts/use-action.ts'

/** Access tokens, without their secrets. */
export function TokensPage() {
  const app = useApp()
  const { client } = app
  const loaded = usePages((cursor) => client.tokens.list({ limit: 50, cursor }), [])
  const [isOpen, setOpen] = useState(false)
  const [revoking, setRevoking] = useState<{ readonly id: string; readonly name: string } | undefined>(undefined)
  const { act, isBusy } = useAction()
  const revoke = (id: string) =>
    act('Revoked', async () => {
      await client.tokens.revoke(id)
      setRevoking(undefined)
      loaded.reload()
    })
  return (
    <>
      <Heading title="Tokens">
        {mayChange(app, 'tokens:create') ? (
          <button type="button" class="primary" onClick={() => setOpen(true)}>
            Create a token
          </button>
        ) : null}
      </Heading>
      <Paged loaded={loaded}>
        {(tokens) => (
          <DataTable
            rows={tokens}
            keyOf={({ id }) => id}
            caption="Tokens, newest first"
            empty="There are no tokens."
            columns={[
              {
                head: 'Name',
                cell: ({ name, last4, env }) => (
                  <>
                    {name}{' '}
                    <span class="quiet id">
                      {env} …{last4}
                    </span>
                  </>
                ),
              },
              { head: 'Subject', cell: ({ subject }) => subject },
              { head: 'Scopes', cell: ({ scopes }) => <code>{scopes.join(' ')}</code> },
              { head: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />, isNumber: true },
              {
                head: 'State',
                isNumber: true,
                cell: ({ id, name, revokedAt, expiresAt }) =>
                  revokedAt !== undefined ? (
                    'revoked'
                  ) : expiresAt !== undefined && Date.parse(expiresAt) < Date.now() ? (
                    'expired'
                  ) : mayChange(app, 'tokens:revoke') ? (
                    <button
                      type="button"
                      class="link"
                      aria-label={`Revoke ${name}`}
                      onClick={() => setRevoking({ id, name })}
                    >
                      Revoke
                    </button>
                  ) : (
                    'active'
                  ),
              },
            ]}
          />
        )}
      </Paged>
      {isOpen ? <CreateToken onClose={() => setOpen(false)} onCreated={loaded.reload} /> : null}
      {revoking === undefined ? null : (
        <Dialog title={`Revoke ${revoking.name}?`} onClose={() => setRevoking(undefined)}>
          <p>
            Every client that uses this token, or a token created with it, loses access at once. This cannot be undone.
          </p>
          <p class="actions">
            <button type="button" onClick={() => setRevoking(undefined)}>
              Cancel
            </button>
            <button type="button" class="danger" disabled={isBusy} onClick={() => void revoke(revoking.id)}>
              Revoke
            </button>
          </p>
        </Dialog>
      )}
    </>
  )
}

function CreateToken({ onClose, onCreated }: { readonly onClose: () => void; readonly onCreated: () => void }) {
  const { client, session } = useApp()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set())
  const [extra, setExtra] = useState('')
  const [days, setDays] = useState(session.env === 'local' ? '' : '90')
  const [token, setToken] = useState<string | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const create = async (event: Event) => {
    event.preventDefault()
    try {
      const all = [...scopes, ...extra.split(/[\s,]+/).filter(Boolean)]
      const expiresAt = days === '' ? {} : { expiresAt: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }
      const minted = await client.tokens.create({ name, scopes: all, ...expiresAt })
      setToken(minted.token)
      onCreated()
    } catch (error) {
      setFailure(failureOf(error))
    }
  }
  const toggle = (scope: string) => {
    const next = new Set(scopes)
    if (!next.delete(scope)) next.add(scope)
    setScopes(next)
  }
  if (token !== undefined) {
    return (
      <Dialog title="The new token" onClose={onClose}>
        <p>Copy it now: it is shown only once.</p>
        <pre class="secret">{token}</pre>
        <p class="actions">
          <CopyButton text={() => token}>Copy</CopyButton>
          <button type="button" onClick={onClose}>
            Done
          </button>
        </p>
      </Dialog>
    )
  }
  return (
    <Dialog title="Create a token" onClose={onClose}>
      <form onSubmit={(event) => void create(event)}>
        <label class="stacked">
          Name
          <input
            type="text"
            required
            maxLength={128}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <fieldset class="scopes">
          <legend>Scopes</legend>
          {Object.entries(SCOPES).flatMap(([scope, { third, summary }]) =>
            (Array.isArray(third) ? third.map((part: string) => `${scope}:${part}`) : [scope]).map((one: string) => (
              <label key={one} title={summary}>
                <input type="checkbox" checked={scopes.has(one)} onChange={() => toggle(one)} /> {one}
              </label>
            )),
          )}
        </fieldset>
        <label class="stacked">
          More scopes, such as agents:invoke:mail
          <input type="text" value={extra} onInput={({ currentTarget }) => setExtra(currentTarget.value)} />
        </label>
        <label class="stacked">
          Days until it expires (empty: when the token that signed in expires)
          <input type="number" min={1} value={days} onInput={({ currentTarget }) => setDays(currentTarget.value)} />
        </label>
        {failure === undefined ? null : <FailureNote failure={failure} />}
        <p class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Create
          </button>
        </p>
      </form>
    </Dialog>
  )
}
