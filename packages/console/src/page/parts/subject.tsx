import { useEffect } from 'preact/hooks'
import { may, useApp } from '../app-context.ts'
import { useStore } from '../client/use-store.ts'

/** A token without a subject of its own acts under its id. */
const TOKEN_ID = /^tok_/

/** Who did something: the name of a token in place of its id, which is in the tooltip. */
export function Subject({ id }: { readonly id: string | undefined }) {
  const app = useApp()
  const { tokenNames } = app
  const names = useStore(tokenNames.names)
  const isTokenId = id !== undefined && TOKEN_ID.test(id)
  useEffect(() => {
    if (isTokenId) tokenNames.read(may(app, 'tokens:read'))
  }, [isTokenId])
  return id === undefined ? null : <span title={id}>{names.get(id) ?? id}</span>
}
