import type { healthOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/health`: the overall health and the probes. A server that is failing or not ready answers 503. */
export const healthRoutes = ({
  readHealth,
  readSecretsHealth,
}: Pick<UseCases, 'readHealth' | 'readSecretsHealth'>): Handlers<typeof healthOperations> => ({
  async getHealth() {
    const body = await readHealth.document()
    return { status: body.status === 'failing' ? 503 : 200, body }
  },
  getLiveness: () => ({ status: 200, body: readHealth.live() }),
  async getReadiness() {
    const body = await readHealth.ready()
    return { status: body.status === 'ready' ? 200 : 503, body }
  },
  getSecretsHealth: () => ({ status: 200, body: readSecretsHealth() }),
})
