// To use a real model: npm install ai @ai-sdk/openai, then return (await generateText({ model: openai('gpt-5-mini'), prompt })).text
/** Answers like a model, but needs no key. */
export async function ask(prompt: string): Promise<string> {
  return `Once upon a time there was ${prompt}.`
}
