import type { ApiDocument } from '../api-explorer/api-document.ts'
import { ApiView } from '../api-explorer/api-view.tsx'
import { useApp } from '../app-context.ts'
import { API_URL } from '../client/api-url.ts'
import { sessionFetch } from '../client/connection.ts'
import { Heading, Shown } from '../parts/basics.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { hrefOf } from '../route.ts'

async function readDocument(): Promise<ApiDocument> {
  const response = await sessionFetch(`${API_URL}/openapi.json`)
  if (!response.ok) throw new Error('The server does not serve its API document: docs.enabled is false.')
  return await response.json()
}

/** Every operation of the API, with a form that calls it with the rights of the session. */
export function ApiPage() {
  const { route, session } = useApp()
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
        {(document) => (
          <ApiView
            document={document}
            access={{ send: sessionFetch, mayChange: !session.readOnly }}
            open={route.query.op}
            hrefOf={(op) => hrefOf(['api'], { op })}
          />
        )}
      </Shown>
    </>
  )
}
