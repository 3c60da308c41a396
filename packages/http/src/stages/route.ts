import { AppError } from '@perdure/ports'
import type { CreateStage } from './stage.ts'

/** Refuses requests without a route. For a wrong method, lists the allowed methods. */
export const createRoute: CreateStage = () => (exchange) => {
  const { head, route, headers } = exchange
  if (route !== undefined) return undefined

  const methods = exchange.methods()
  if (methods.length === 0) throw new AppError('route-not-found')
  headers.set('Allow', methods.join(', '))
  if (head.method === 'OPTIONS') return { status: 204 }
  throw new AppError('method-not-allowed')
}
