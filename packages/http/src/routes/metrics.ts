import type { metricOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { textAnswer } from '../text-answer.ts'

/** `/metrics`: what a scraper reads. */
export const metricRoutes = ({ readMetrics }: Pick<UseCases, 'readMetrics'>): Handlers<typeof metricOperations> => ({
  async getMetrics() {
    const { contentType, text } = await readMetrics()
    return textAnswer(text, 200, { 'Content-Type': contentType })
  },
})
