import type { Principal } from '@perdure/core'
import { type JsonText, toJsonText } from '@perdure/ports'
import type { docsOperations } from '@perdure/protocol'
import { buildAsyncApi } from '../documents/asyncapi.ts'
import { docsAnswer } from '../documents/docs-page.ts'
import { buildOpenApi } from '../documents/openapi.ts'
import type { Json } from '../documents/openapi-json.ts'
import { type DescribedRegistration, withRegistrations } from '../documents/registration-schemas.ts'
import type { Handlers } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import { servedOperations } from '../mount.ts'
import { readableIds } from '../readable-ids.ts'
import type { TextAnswer } from '../response/text-answer.ts'

type Deps = Pick<HttpAppDeps, 'config' | 'version' | 'readAgents' | 'readWorkflows' | 'readDocsPage'>

const MAX_CACHED = 16

/**
 * `/openapi.json`, `/asyncapi.json` and `/docs`: built on first use, then cached. The OpenAPI document describes the
 * agents and workflows that the caller may read.
 */
export function docsRoutes({ config, version, ...deps }: Deps): Handlers<typeof docsOperations> {
  let built: Json | undefined
  const openApiObject = () => {
    built ??= buildOpenApi(servedOperations(config), { basePath: config.basePath, version })
    return built
  }
  const openApis = new Map<string, JsonText>()
  let asyncApi: JsonText | undefined
  let page: TextAnswer | undefined

  const openApiFor = (principal: Principal): JsonText => {
    const registrations = readableBy(principal, deps)
    const key = registrations.map(({ kind, id }) => `${kind} ${id}`).join()
    const cached = openApis.get(key) ?? toJsonText(withRegistrations(openApiObject(), registrations))
    if (openApis.size >= MAX_CACHED) openApis.clear()
    openApis.set(key, cached)
    return cached
  }

  return {
    getOpenApi: ({ principal }) => ({ status: 200, json: openApiFor(principal) }),
    getAsyncApi() {
      asyncApi ??= toJsonText(buildAsyncApi({ basePath: config.basePath, version }))
      return { status: 200, json: asyncApi }
    },
    async getDocs() {
      page ??= docsAnswer(await deps.readDocsPage(), servedOperations(config))
      return page
    },
  }
}

function readableBy(
  principal: Principal,
  deps: Pick<Deps, 'readAgents' | 'readWorkflows'>,
): readonly DescribedRegistration[] {
  const { agents, workflows } = readableIds(principal, deps)
  return [
    ...agents.map((id) => ({ kind: 'agent', ...schemasOf(deps.readAgents.get(id)) }) as const),
    ...workflows.map((id) => ({ kind: 'workflow', ...schemasOf(deps.readWorkflows.get(id)) }) as const),
  ]
}

const schemasOf = ({ id, inputSchema, outputSchema }: Omit<DescribedRegistration, 'kind'>) => ({
  ...{ id, inputSchema, outputSchema },
})
