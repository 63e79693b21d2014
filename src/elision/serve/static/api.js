// The server's answers. Every refusal is an Error with the server's one line.

async function checked(response) {
  if (response.ok) return response;
  let problem = `the server answered ${response.status}`;
  try {
    problem = (await response.json()).problem ?? problem;
  } catch {
    // not JSON: the number has to do
  }
  throw new Error(problem);
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer; is it still running?");
  }
  return checked(response);
}

const inJson = (question, signal) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(question),
  signal,
});

export const get = async (path) => (await request(path)).json();
export const ask = async (path, question, signal) =>
  (await request(path, inJson(question, signal))).json();
export const askFile = async (path, question) => (await request(path, inJson(question))).blob();
export const send = async (path, body) => (await request(path, { method: "POST", body })).json();

export const scriptPath = (id) => `/api/scripts/${encodeURIComponent(id)}`;

export const isAborted = (error) => error.name === "AbortError";
