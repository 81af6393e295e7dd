import { mount } from "svelte";

import App from "./App.svelte";
import "./tokens.css";
import "./base.css";

// In a task of its own: to evaluate the modules is one already.
setTimeout(() => mount(App, { target: document.getElementById("app")! }));
