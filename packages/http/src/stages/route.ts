import { AppError } from '@perdure/ports'
import type { CreateStage } from './stage.ts'

/** Refuses what no operation answers; says which methods a path has. */
export const createRoute: CreateStage = () => (exchange) => {
  const { head, route, headers } = exchange
  if (route !== undefined) return undefined

  const methods = exchange.methods()
  if (methods.length === 0) throw new AppError('route-not-found')
  headers.set('Allow', methods.join(', '))
  if (head.method === 'OPTIONS') return { status: 204 }
  throw new AppError('method-not-allowed')
}
