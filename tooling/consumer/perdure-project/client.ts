import { createClient, type PerdureClient } from 'perdure/client'
import type config from './perdure.config.ts'

export const clientOf = (baseUrl: string): PerdureClient<typeof config> => createClient<typeof config>({ baseUrl })

export async function summaryOf(text: string): Promise<string | undefined> {
  const { result } = await clientOf('http://127.0.0.1:8080/v1').agents.run('summarize', { input: { text } })
  return result?.summary
}
